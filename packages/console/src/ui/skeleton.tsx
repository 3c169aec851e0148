import styles from "./skeleton.module.css";

const ROWS = 8;

/** In the place of a page that loads: its title, and rows as high as rows are. */
export function PageSkeleton() {
  return (
    <div className={styles.page} aria-hidden>
      <div className={`${styles.block} ${styles.title}`} />
      <div className={`${styles.block} ${styles.tools}`} />
      <RowsSkeleton rows={ROWS} />
    </div>
  );
}

/** In the place of a table or a list that loads. `rows` of the height of table rows. */
function RowsSkeleton({ rows }: { rows: number }) {
  return (
    <div className={styles.rows} aria-hidden>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row}>
          <span className={styles.block} data-width={row % 3} />
          <span className={styles.block} data-width="3" />
        </div>
      ))}
    </div>
  );
}
