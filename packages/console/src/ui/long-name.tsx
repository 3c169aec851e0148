import styles from "./long-name.module.css";

/** A name up to this length is never cut. */
const SHORT = 24;
/** How many letters of the end are seen in any case: a suffix says what it is. */
const END = 10;

/** A name that stays in one line, cut in its middle where it is too long; all of it under the pointer. */
export function LongName({ name }: { name: string }) {
  if (name.length <= SHORT) return name;
  return (
    <span className={styles.name} title={name}>
      <span>{name.slice(0, -END)}</span>
      <span>{name.slice(-END)}</span>
    </span>
  );
}
