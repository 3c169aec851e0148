import styles from "./finding-table.module.css";

const MAX_DRAWN = 24;
const STEP = 6;

/** In which of its image's layers something is; `at` from 0. */
export function LayerMark({ at, of, title }: { at: number; of: number; title: string }) {
  const words = `${at + 1} of ${of}`;
  if (of > MAX_DRAWN) return <span title={title}>{words}</span>;
  return (
    <svg width={of * STEP} height={12} role="img" aria-label={words} className={styles.layers}>
      <title>{title}</title>
      {Array.from({ length: of }, (_, index) => (
        <rect
          key={index}
          x={index * STEP}
          width={STEP - 2}
          height={12}
          rx={1}
          className={index === at ? styles.here : styles.other}
        />
      ))}
    </svg>
  );
}
