import type { Column } from "./column.ts";
import { Head } from "./data-head.tsx";
import { DataRow } from "./data-row.tsx";
import styles from "./data-table.module.css";
import { tableClass, useStacked } from "./table-stack.ts";

export interface ShortTableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  idOf: (row: Row) => string;
}

/** A table of a few rows, which are all in the page; longer ones are `DataTable`. */
export function ShortTable<Row>({ label, rows, columns: all, idOf }: ShortTableProps<Row>) {
  const [columns, below] = useStacked(all);
  return (
    <div className={styles.frame}>
      <table className={tableClass(below, false)} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} order={undefined} onOrder={undefined} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <DataRow
              key={idOf(row)}
              id={idOf(row)}
              row={row}
              index={index}
              columns={columns}
              below={below}
              isPassing={false}
              isSelected={undefined}
              onToggle={nothing}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function nothing(): void {
  // Rows of a short table are not selected.
}
