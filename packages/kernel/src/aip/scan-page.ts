import type { Call } from "../core/call.ts";
import type { Cells } from "../core/stored-answer.ts";
import { invalidArgument } from "../errors.ts";
import { createTurns } from "../lib/turns.ts";
import type { FoundPage, PageQuery } from "./page-query.ts";

/** What a judge says of a row. */
interface RowJudgment {
  /** Whether the list has the row; undefined where that is not known, and the list has it not. */
  fits: boolean | undefined;
  /** What it took to find out, of the MOST_SPENT for a page. */
  cost: number;
}

/** Judges a row; `cell` reads a column of it. */
export type JudgeRow = (cell: (column: string) => unknown) => Promise<RowJudgment>;

/** What became of rows that were looked at and that the list has not. */
interface Counts {
  leftOutCount: number;
  /** Of these. */
  unknownCount: number;
}

/** A page whose end may lie behind its last row. */
export interface ScannedPage<R> extends FoundPage<R> {
  /** Rows up to this one were looked at, and there may be more behind it. */
  lookedAt?: R;
}

/** A page of the rows that fit. */
export interface Scanned extends ScannedPage<Cells>, Counts {}

/** What a page is looked for in. */
interface Scan {
  query: PageQuery;
  ask: (query: PageQuery) => Promise<FoundPage<Cells>>;
  judge: JudgeRow;
  cell: (row: Cells, column: string) => unknown;
}

/** So many rows are looked at for a page. */
const MAX_ROWS = 1_000;
/** What judging the rows of a page may cost. */
const MOST_SPENT = 1_000;
const STEP = 100;

/**
 * A page of the rows that fit, in the order of the list. It ends when it is full, when MAX_ROWS rows were looked at, or
 * when they cost MOST_SPENT: behind the last row that was looked at, so that the next page goes on there. Throws
 * INVALID_ARGUMENT on `skip`, and ABORTED when the caller leaves.
 */
export async function scanPage(call: Call, { query, ask, judge, cell }: Scan): Promise<Scanned> {
  if (query.offset > 0)
    throw invalidArgument({ field: "skip", description: "is not taken with filters by what images are" });
  const turn = createTurns();
  const columns = [...query.orders.map(({ column }) => column), "uid"];
  const found: Scanned = { rows: [], total: 0, leftOutCount: 0, unknownCount: 0 };
  let [looked, spent] = [0, 0];
  let after = query.after;
  let full: Counts | undefined;
  for (;;) {
    const { rows } = await ask({ ...query, after, limit: STEP, offset: 0, uncounted: true });
    for (const row of rows) {
      const { fits, cost } = await judge((column) => cell(row, column));
      looked += 1;
      spent += cost;
      if (fits === true) found.rows.push(row);
      // The last row that was asked for only says that there is more: the next page begins before it.
      if (found.rows.length === query.limit) return { ...found, ...full };
      if (found.rows.length === query.limit - 1 && full === undefined) full = countsOf(found);
      if (fits !== true) found.leftOutCount += 1;
      if (fits === undefined) found.unknownCount += 1;
      if (looked >= MAX_ROWS || spent >= MOST_SPENT) return { ...found, lookedAt: row };
      await turn();
      call.requireCaller();
    }
    const last = rows.at(-1);
    if (rows.length < STEP || last === undefined) return found;
    after = columns.map((column) => cell(last, column) as string | number);
  }
}

function countsOf({ leftOutCount, unknownCount }: Counts): Counts {
  return { leftOutCount, unknownCount };
}
