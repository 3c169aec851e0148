import { type ReactNode, useEffect } from "react";
import styles from "./page.module.css";

export interface PageProps {
  title: ReactNode;
  /** The title of the browser's tab; the title itself when that is text. */
  tabTitle?: string;
  /** Where the page is, as links, above the title. */
  path?: ReactNode;
  /** What can be done with what the page shows. */
  actions?: ReactNode;
  /** Links to the parts of what the page shows; see Tabs. */
  tabs?: ReactNode;
  children: ReactNode;
}

/** The frame of a page: its title, its actions and its content. */
export function Page({ title, tabTitle, path, actions, tabs, children }: PageProps) {
  const name = tabTitle ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    document.title = name === "" ? "Moorage" : `${name} · Moorage`;
  }, [name]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.titles}>
          {path !== undefined && (
            <nav className={styles.path} aria-label="Where this is">
              {path}
            </nav>
          )}
          <h1>{title}</h1>
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {tabs}
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.sectionHead}>
        <h2>{title}</h2>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Content on a surface of its own. */
export function Card({ children }: { children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}

/** Fields with their values. Values that are undefined are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Things beside each other, on further lines where they do not fit. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

/** Things below each other. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}
