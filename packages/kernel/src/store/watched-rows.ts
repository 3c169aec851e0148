import type { Database } from "./store.ts";

// Which rows statements really change and read, for tests of what commands declare: what they meet others by
// (`sharingOf`), and which cached answers they end (`changes`). Neither can be seen from what a command answers.

/**
 * Whether rows are watched: while tests run with MOORAGE_TEST_DECLARATIONS=1. Each statement is slower then, and no two
 * commands share one.
 */
export const WATCHES_ROWS = process.env["MOORAGE_TEST_DECLARATIONS"] === "1";

/** A row by the names of its columns, without those of bytes. */
export type Columns = Readonly<Record<string, unknown>>;

/** A row that a statement has changed. */
export interface WatchedRow {
  table: string;
  /** Proposed: by an insert, which may have left a row of the same key as it is; only PostgreSQL says so. */
  change: "proposed" | "insert" | "update" | "delete";
  /** The columns of the primary key. */
  key: readonly string[];
  before: Columns | null;
  after: Columns | null;
}

/** A statement that only reads. */
export interface WatchedRead {
  text: string;
  parameters: readonly unknown[];
}

/** What one of the commands that share a transaction has done in it. */
export interface Touched {
  rows: readonly WatchedRow[];
  reads: readonly WatchedRead[];
}

/** A command does not declare what it does. A defect, which must fail the tests that run it. */
export class DeclarationError extends Error {}

const sources = new WeakMap<Database, () => WatchedRow[]>();

/** Says where the rows come from that are changed through this connection or transaction. */
export function setWatched(db: Database, take: () => WatchedRow[]): void {
  sources.set(db, take);
}

/** The rows that were changed since the last call, in the order of their changes. Throws when they are not watched. */
export function takeWatchedRows(db: Database): WatchedRow[] {
  const take = sources.get(db);
  if (take === undefined) throw new Error("the rows of this transaction are not watched");
  return take();
}
