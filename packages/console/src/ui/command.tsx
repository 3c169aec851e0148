import { CopyButton } from "./copy-button.tsx";
import styles from "./command.module.css";

/** A command, or another text to be copied as it stands. */
export function Command({ text, label = "command" }: { text: string; label?: string }) {
  return (
    <div className={styles.command}>
      {/* Long lines are scrolled, by keyboard too. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}
