import { type ComponentProps, type ReactNode, useId } from "react";
import styles from "./field.module.css";
import { Segmented } from "./segments.tsx";

interface Common {
  label: string;
  /** What to write, with an example. */
  help?: ReactNode;
  /** What is wrong with the value, as the server said. */
  error?: string | undefined;
}

/** A line of text with its label. */
export function TextField({ label, help, error, ...rest }: Common & ComponentProps<"input">) {
  const id = useId();
  return (
    <Frame id={id} label={label} help={help} error={error}>
      <input {...rest} id={id} className={styles.input} aria-describedby={`${id}-help`} aria-invalid={!!error} />
    </Frame>
  );
}

/** Several lines of text with their label. */
export function TextArea({ label, help, error, ...rest }: Common & ComponentProps<"textarea">) {
  const id = useId();
  return (
    <Frame id={id} label={label} help={help} error={error}>
      <textarea {...rest} id={id} className={styles.input} aria-describedby={`${id}-help`} aria-invalid={!!error} />
    </Frame>
  );
}

/** A choice among a few, with its label. */
export function SelectField({ label, help, error, children, ...rest }: Common & ComponentProps<"select">) {
  const id = useId();
  return (
    <Frame id={id} label={label} help={help} error={error}>
      <select {...rest} id={id} className={styles.input} aria-describedby={`${id}-help`} aria-invalid={!!error}>
        {children}
      </select>
    </Frame>
  );
}

export interface SegmentsFieldProps<Value extends string> extends Common {
  value: Value;
  options: readonly (readonly [value: Value, label: string])[];
  onValue: (value: Value) => void;
}

/** A choice among a few that are all seen, with its label. */
export function SegmentsField<Value extends string>({ label, help, error, ...rest }: SegmentsFieldProps<Value>) {
  return (
    <div className={styles.field}>
      <span className={styles.label} aria-hidden>
        {label}
      </span>
      <Segmented label={label} {...rest} />
      <div className={error ? styles.error : styles.help}>{error || help}</div>
    </div>
  );
}

/** Yes or no. */
export function CheckField({ label, help, ...rest }: Omit<Common, "error"> & ComponentProps<"input">) {
  const id = useId();
  return (
    <div className={styles.checkField}>
      <input {...rest} type="checkbox" id={id} aria-describedby={help === undefined ? undefined : `${id}-help`} />
      <div>
        <label htmlFor={id}>{label}</label>
        {help !== undefined && (
          <p id={`${id}-help`} className={styles.help}>
            {help}
          </p>
        )}
      </div>
    </div>
  );
}

function Frame({ id, label, help, error, children }: Common & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children}
      <div id={`${id}-help`} className={error ? styles.error : styles.help}>
        {error || help}
      </div>
    </div>
  );
}
