import { memo } from "react";
import styles from "./data-table.module.css";
import type { Column } from "./column.ts";

export interface DataRowProps<Row> {
  id: string;
  row: Row;
  /** From 0 at the first one of the table. */
  index: number;
  columns: readonly Column<Row>[];
  /** Those that are shown in the first cell, below what it has. */
  below: readonly Column<Row>[];
  /** Whether it is only scrolled past: cells that ask the server are left out. */
  isPassing: boolean;
  /** Undefined where rows cannot be selected. */
  isSelected: boolean | undefined;
  onToggle: (id: string) => void;
}

function PlainRow<Row>({ id, row, index, columns, below, isPassing, isSelected, onToggle }: DataRowProps<Row>) {
  return (
    <tr aria-rowindex={index + 2} aria-selected={isSelected}>
      {isSelected !== undefined && (
        <td className={styles.check}>
          <input
            type="checkbox"
            aria-label={`Select row ${index + 1}`}
            checked={isSelected}
            onChange={() => onToggle(id)}
          />
        </td>
      )}
      {columns.map((column, at) => (
        <td key={column.id} className={classOf(column)}>
          {isPassing && column.isRead ? "…" : column.cell(row)}
          {at === 0 &&
            below.map((each) => (
              <div key={each.id} className={styles.below}>
                {isPassing && each.isRead ? "…" : each.below?.(row)}
              </div>
            ))}
        </td>
      ))}
    </tr>
  );
}

/** A row of a table. It is made again only when something about it changes, not at each step of scrolling. */
export const DataRow = memo(PlainRow) as typeof PlainRow;

export function classOf({
  align,
  isWide,
  seenFrom,
  isMinor,
  isActions,
}: Pick<Column<never>, "align" | "isWide" | "seenFrom" | "isMinor" | "isActions">): string {
  return [
    align === "end" && styles.end,
    isWide && styles.wide,
    seenFrom !== undefined && styles[`from${seenFrom}`],
    isMinor && styles.minor,
    isActions && styles.actions,
  ]
    .filter(Boolean)
    .join(" ");
}
