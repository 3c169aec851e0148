import { type ReactNode, useEffect } from "react";
import styles from "./frame.module.css";

/** The frame of the pages for those who are not signed in. */
export function Frame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Moorage`;
  }, [title]);
  return (
    <main className={styles.frame}>
      <div className={styles.card}>
        <img src="/console/icon.svg" width={40} height={40} alt="" />
        <header>
          <h1>{title}</h1>
          <p className={styles.host}>Moorage at {window.location.host}</p>
        </header>
        {children}
      </div>
    </main>
  );
}
