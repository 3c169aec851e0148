import { useId } from "react";
import styles from "./filter-chip.module.css";
import { useTyped } from "./use-entry.ts";

export interface TextChipProps {
  /** What is filtered by, such as "Method". */
  label: string;
  value: string | undefined;
  placeholder?: string;
  /** What is wrong with the value, by the server. */
  error?: string | undefined;
  /** Defaults to text. */
  type?: "text" | "datetime-local";
  onText: (text: string | undefined) => void;
}

/** A filter by a text, which holds when the typing pauses. */
export function TextChip({ label, value = "", placeholder, error, type = "text", onText }: TextChipProps) {
  const id = useId();
  const { text, setText } = useTyped(value, 1, (typed) => onText(typed || undefined));
  return (
    <span className={styles.chip} data-set={value !== "" || undefined} data-text>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        step={type === "datetime-local" ? 1 : undefined}
        value={text}
        placeholder={placeholder}
        maxLength={500}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={error === undefined ? undefined : true}
        title={error}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  );
}
