import type { ReactNode } from "react";
import { Page } from "../ui/page.tsx";
import buttonStyles from "../ui/button.module.css";
import styles from "./no-page.module.css";

/** For an address that is no page. */
export function Missing() {
  return <NoSuch>There is no page at this address. It may be mistyped, or the page may have moved.</NoSuch>;
}

export interface NoSuchProps {
  /** What is not there, where that has a name. */
  title?: string;
  children: ReactNode;
}

/** In place of a page about something that is not there, with where to look for it. */
export function NoSuch({ title = "Not found", children }: NoSuchProps) {
  return (
    <Page
      title={title}
      head={
        <div className={styles.empty}>
          <svg width={128} height={72} viewBox="0 0 128 72" aria-hidden>
            <ellipse cx="64" cy="56" rx="62" ry="14" className={styles.wave} />
            <ellipse cx="64" cy="56" rx="44" ry="9" className={styles.wave} />
            <ellipse cx="64" cy="56" rx="28" ry="5" className={styles.wave} />
            <path d="M63 19 54 46q11 6 23 2l-2-28z M58 34l18 4" className={styles.buoy} />
            <path d="M70 19l1-11" className={styles.buoy} />
            <circle cx="71" cy="6" r="4" className={styles.light} />
          </svg>
          <h1>{title}</h1>
          <p>{children}</p>
          <div>
            <a className={`${buttonStyles.button} ${buttonStyles.primary}`} href="/images">
              Search images
            </a>
            <a className={buttonStyles.button} href="/">
              Home
            </a>
          </div>
        </div>
      }
    >
      {null}
    </Page>
  );
}
