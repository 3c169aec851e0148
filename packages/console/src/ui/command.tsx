import { CopyButton } from "./copy-button.tsx";
import styles from "./command.module.css";

export interface CommandProps {
  text: string;
  /** What the text is, for assistive technology. */
  label?: string;
  /** What stands before it and is not copied, such as `$`. */
  prompt?: string;
}

/** A command, or another text to be copied as it stands. */
export function Command({ text, label = "command", prompt = "" }: CommandProps) {
  return (
    <div className={styles.command}>
      {prompt !== "" && (
        <span className={styles.prompt} aria-hidden>
          {prompt}
        </span>
      )}
      {/* Long lines are scrolled, by keyboard too. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}
