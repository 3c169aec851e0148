import { createContext, type ReactNode, useContext, useEffect } from "react";
import { showTitle } from "./page-title.ts";
import styles from "./page.module.css";

/** The tabs that the frame gives to the pages of a place. A page with tabs of its own shows those. */
export const PlaceTabs = createContext<ReactNode>(undefined);

export interface PageProps {
  title: ReactNode;
  /** The title of the browser's tab; the title itself when that is text. */
  tabTitle?: string;
  /** Beside the title: short words about what the page shows. */
  badges?: ReactNode;
  /** Whether the title is there for assistive technology alone: the content says what the page is. */
  isTitleHidden?: boolean;
  /** What the page is for, in a sentence. */
  lede?: ReactNode;
  /** What can be done with what the page shows; one of them is primary. */
  actions?: ReactNode;
  /** In place of the title, the actions and the tabs, with an h1 of its own. */
  head?: ReactNode;
  /** Links to the parts of what the page shows; see Tabs. */
  tabs?: ReactNode;
  children: ReactNode;
}

/** A page within the frame: its title, its actions and its content. */
export function Page({
  title,
  tabTitle,
  badges,
  isTitleHidden = false,
  lede,
  actions,
  tabs,
  head,
  children,
}: PageProps) {
  const name = tabTitle ?? (typeof title === "string" ? title : "");
  const placeTabs = useContext(PlaceTabs);
  useEffect(() => showTitle(name), [name]);
  return (
    <div className={styles.page}>
      {head !== undefined ? (
        head
      ) : isTitleHidden ? (
        <h1 className="visually-hidden">{title}</h1>
      ) : (
        <header className={styles.head}>
          <div className={styles.titles}>
            {badges === undefined ? (
              <h1>{title}</h1>
            ) : (
              <div className={styles.row}>
                <h1>{title}</h1>
                {badges}
              </div>
            )}
            {lede !== undefined && <div className={styles.lede}>{lede}</div>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {head === undefined && (tabs ?? placeTabs)}
      {children}
    </div>
  );
}
export interface SectionProps {
  title: string;
  /** How many there are, beside the title. */
  count?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page with a heading of its own. */
export function Section({ title, count, actions, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.sectionHead}>
        <div className={styles.row}>
          <h2>{title}</h2>
          {count !== undefined && <span className={styles.count}>{count}</span>}
        </div>
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
