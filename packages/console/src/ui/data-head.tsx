import { ArrowDown, ArrowUp } from "lucide-react";
import { classOf } from "./data-row.tsx";
import styles from "./data-table.module.css";
import type { Column } from "./column.ts";

/** Stands for the rows above or below those that are seen. */
export function Gap({ px }: { px: number }) {
  return (
    <tr aria-hidden="true" className={styles.gap}>
      <td style={{ height: px }} />
    </tr>
  );
}

interface HeadProps<Row> {
  column: Column<Row>;
  order: string | undefined;
  onOrder: ((order: string) => void) | undefined;
}

/** A heading; a press on one that can be sorted by asks the server for that order, or its reverse. */
export function Head<Row>({ column, order = "", onOrder }: HeadProps<Row>) {
  const { orderBy, header } = column;
  if (orderBy === undefined || onOrder === undefined)
    return (
      <th className={classOf(column)}>
        {column.isActions ? <span className="visually-hidden">{header}</span> : (column.head ?? header)}
      </th>
    );
  const [field, direction] = order.split(" ");
  const isOrdered = field === orderBy;
  const isDescending = isOrdered && direction === "desc";
  return (
    <th className={classOf(column)} aria-sort={isOrdered ? (isDescending ? "descending" : "ascending") : "none"}>
      <button
        type="button"
        className={styles.sort}
        onClick={() => onOrder(isOrdered && !isDescending ? `${orderBy} desc` : orderBy)}
      >
        {header}
        {isOrdered && (isDescending ? <ArrowDown size={14} aria-hidden /> : <ArrowUp size={14} aria-hidden />)}
      </button>
    </th>
  );
}
