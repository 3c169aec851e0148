import { type ColumnDef, type RowData, rowSelectionFeature, tableFeatures, useTable } from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { count, counted } from "../lib/bytes.ts";
import { Gap, Head } from "./data-head.tsx";
import { DataRow } from "./data-row.tsx";
import styles from "./data-table.module.css";
import { tableClass, useStacked } from "./table-stack.ts";
import type { Column } from "./column.ts";

const features = tableFeatures({ rowSelectionFeature });

export interface DataTableProps<Row> {
  /** What the table lists, for assistive technology. */
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  idOf: (row: Row) => string;
  /** How many there are in all, when it is known. */
  total?: number | undefined;
  /** How many of them the rows are, where some rows are several. Defaults to the number of rows. */
  shown?: number;
  /** `name`, or `name desc`; AIP-132. */
  order?: string | undefined;
  onOrder?: (order: string) => void;
  /** The ids of the selected rows; rows can be selected when it is there. */
  selected?: ReadonlySet<string>;
  onSelect?: (ids: ReadonlySet<string>) => void;
  /** Fetches the next page; called before its rows are seen. */
  onMore?: (() => void) | undefined;
  isLoadingMore?: boolean;
  /** What a row is, for the line below the table, such as "image". */
  rowWord?: string;
  /** Whether rows have two lines. */
  isTall?: boolean;
}

// Those of the tokens: fingers need more height.
const TALL_PX = 52;
const ROW_PX = window.matchMedia("(pointer: coarse)").matches ? TALL_PX : 40;
const OVERSCAN = 12;

/** A table of any length: only the rows that are seen are in the page. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const {
    label,
    rows,
    columns: all,
    idOf,
    total,
    shown = rows.length,
    onMore,
    isLoadingMore = false,
    selected,
    onSelect,
    rowWord = "row",
  } = props;
  const [columns, below] = useStacked(all);
  const isTall = props.isTall === true || below.length > 0;
  const body = useRef<HTMLTableElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, [rows.length === 0]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isTall ? TALL_PX : ROW_PX),
    overscan: OVERSCAN,
    scrollMargin: top,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const table = useTable({
    features,
    // A model of all rows would be made again with each page: after 300,000 rows that takes longer than half a second.
    data: useMemo(() => rows.slice(first, last + 1), [rows, first, last]),
    columns: useMemo(
      () => columns.map(({ id, header }): ColumnDef<typeof features, Row> => ({ id, header })),
      [columns],
    ),
    getRowId: idOf,
    state: { rowSelection: Object.fromEntries([...(selected ?? [])].map((id) => [id, true])) },
  });
  const seen = table.getRowModel().rows;
  useEffect(() => {
    if (onMore !== undefined && !isLoadingMore && last >= rows.length - OVERSCAN) onMore();
  }, [last, rows.length, isLoadingMore, onMore]);
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const isSelecting = selected !== undefined;
  const isAll =
    isSelecting && rows.length > 0 && selected.size >= rows.length && rows.every((row) => selected.has(idOf(row)));
  // What was shown once stays. When the scrolling pauses, React fills the other rows in steps that do not block.
  const settles = useDeferredValue(virtual.isScrolling);
  const isMoving = virtual.isScrolling || settles;
  const [rested] = useState(() => new Set<string>());
  useEffect(() => {
    if (!isMoving) for (const { id } of seen) rested.add(id);
  });
  const chosen = useRef({ selected, onSelect });
  useEffect(() => {
    chosen.current = { selected, onSelect };
  });
  const toggle = useCallback((id: string) => {
    const ids = new Set(chosen.current.selected);
    if (!ids.delete(id)) ids.add(id);
    chosen.current.onSelect?.(ids);
  }, []);
  return (
    <div className={styles.frame}>
      <table
        ref={body}
        className={tableClass(below, isTall)}
        aria-label={label}
        aria-rowcount={rows.length + Math.max(0, (total ?? shown) - shown) + 1}
      >
        <thead>
          <tr aria-rowindex={1}>
            {isSelecting && (
              <th className={styles.check}>
                <input
                  type="checkbox"
                  aria-label="Select all loaded rows"
                  checked={isAll}
                  onChange={() => onSelect?.(new Set(isAll ? [] : rows.map(idOf)))}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} order={props.order} onOrder={props.onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Gap px={before} />}
          {seen.map((row, at) => (
            <DataRow
              key={row.id}
              id={row.id}
              row={row.original}
              index={first + at}
              columns={columns}
              below={below}
              isPassing={isMoving && !rested.has(row.id)}
              isSelected={isSelecting ? row.getIsSelected() : undefined}
              onToggle={toggle}
            />
          ))}
          {after > 0 && <Gap px={after} />}
        </tbody>
      </table>
      <p className={styles.foot} role="status">
        {isLoadingMore ? "Loading more…" : total === undefined ? "" : footWords(shown, total, rowWord)}
      </p>
    </div>
  );
}

/** `5 images`, or `100 of 2,140 images` while not all are here. */
function footWords(rows: number, total: number, word: string): string {
  const many = word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
  return rows >= total ? counted(total, word, many) : `${count(rows)} of ${counted(total, word, many)}`;
}
