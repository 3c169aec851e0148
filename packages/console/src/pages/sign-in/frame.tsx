import { type ReactNode, useEffect } from "react";
import styles from "./frame.module.css";

/** The frame of the pages for those who are not signed in. */
export function Frame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Moorage`;
  }, [title]);
  return (
    <main className={styles.frame}>
      <p className={styles.brand}>
        <img src="/console/icon.svg" width={34} height={34} alt="" /> Moorage
      </p>
      <div className={styles.card}>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
