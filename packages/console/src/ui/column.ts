import type { ReactNode } from "react";

/** A column. Sorting is the server's: `orderBy` is the field that it is asked to order by. */
export interface Column<Row> {
  id: string;
  header: string;
  /** In place of the header's text, which names the column all the same. */
  head?: ReactNode;
  /** What can be done with a row: seen when the pointer or the focus is in it. */
  isActions?: boolean;
  cell: (row: Row) => ReactNode;
  orderBy?: string;
  /** Numbers stand at the end. */
  align?: "start" | "end";
  /** Left out on tablets and narrower screens. */
  isWide?: boolean;
  /** Left out where the window is narrower, in CSS pixels: of tables with more columns than fit beside their names. */
  seenFrom?: 1280 | 1440 | 1600;
  /** Left out on phones. */
  isMinor?: boolean;
  /** On phones in place of the cell: shown below the first column, in its cell. */
  below?: (row: Row) => ReactNode;
  /** Whether its cells ask the server: those of rows that pass by while somebody scrolls are left out. */
  isRead?: boolean;
}
