import type { ReactNode } from "react";
import { Inbox } from "lucide-react";
import { Command } from "./command.tsx";
import styles from "./notes.module.css";

export interface EmptyProps {
  /** What is not there, such as "No tags yet". */
  title: string;
  /** What to do next. */
  children?: ReactNode;
  /** The command that does it. */
  command?: string;
}

/** In place of a list that has nothing: what to do next, with the command. */
export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <Inbox size={24} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      {children !== undefined && <div>{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  );
}
