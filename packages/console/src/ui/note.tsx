import type { ReactNode } from "react";
import styles from "./notes.module.css";

/** A remark on the page. */
export function Note({
  look = "plain",
  children,
}: {
  look?: "plain" | "warning" | "success" | "danger";
  children: ReactNode;
}) {
  return <div className={`${styles.note} ${look === "plain" ? "" : styles[look]}`}>{children}</div>;
}
