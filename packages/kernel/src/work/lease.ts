import type { Call } from "../core/call.ts";
import { type Bindable, type Row, select, type Tables } from "../store/index.ts";

/** A table whose rows one process at a time holds: `holder`, until `hold_until` in milliseconds of the agreed time. */
export type LeaseTable = {
  [T in keyof Tables]: Row<T> extends { holder: string; hold_until: number } ? T : never;
}[keyof Tables];

export interface LeaseOptions<T extends LeaseTable, K extends keyof Row<T> & string> {
  table: T;
  /** The columns of its key. */
  key: readonly K[];
  /**
   * How long a process that died keeps a row, where a call does not say it; a live one renews its lease in time. In
   * milliseconds.
   */
  holdMs: number;
  /** Which rows are to be held at all, as a condition of SQL. Defaults to all. */
  open?: string;
}

/** A row by its key, and who holds it. */
export type HeldRow<T extends LeaseTable, K extends keyof Row<T>> = Pick<Row<T>, K> & { holder: string };

/**
 * The rows of a table as leases. A lease begins with `take` and ends with `end`, or by itself when its holder has died.
 * Whoever writes something about a row that it holds renews its lease first, in the same transaction: that locks the
 * row, and says whether another process has taken it meanwhile.
 */
export interface Lease<T extends LeaseTable, K extends keyof Row<T> & string> {
  readonly holdMs: number;
  /** Takes the row unless another process holds it; `set` is written with it. Answers whether it was taken. */
  take(call: Call, row: HeldRow<T, K>, set?: Partial<Row<T>>, holdMs?: number): Promise<boolean>;
  /** The same for a table that has a row only while it is held: adds it, or takes one whose lease has ended. */
  add(call: Call, row: HeldRow<T, K>, holdMs?: number): Promise<boolean>;
  /**
   * Holds the row for another `holdMs`, and so locks it until the transaction ends. Answers these columns of it;
   * undefined when it is held no longer.
   */
  renew<C extends keyof Row<T> & string>(
    call: Call,
    row: HeldRow<T, K>,
    columns: readonly [C, ...C[]],
    holdMs?: number,
  ): Promise<Pick<Row<T>, C> | undefined>;
  /** Gives a row back that the transaction has renewed; `set` is written with it, such as when it is due again. */
  end(call: Call, row: Pick<Row<T>, K>, set?: Partial<Row<T>>): Promise<void>;
  /** Removes a row that was added, if it is still held by this holder. */
  remove(call: Call, row: HeldRow<T, K>): Promise<void>;
}

/** Leases of the rows of this table. */
export function leaseOn<T extends LeaseTable, K extends keyof Row<T> & string>({
  table,
  key,
  holdMs: usualMs,
  open,
}: LeaseOptions<T, K>): Lease<T, K> {
  const isRow = key.map((column) => `${column} = ?`).join(" and ");
  const isOpen = open === undefined ? "" : ` and ${open}`;
  const keyOf = (row: Pick<Row<T>, K>): Bindable[] => key.map((column) => row[column] as Bindable);
  return {
    holdMs: usualMs,
    async take({ tx, agreedMs }, { holder, ...row }, set = {}, holdMs = usualMs) {
      const { text, values } = assignments({ holder, hold_until: agreedMs + holdMs, ...set });
      const taken = await select(
        tx,
        `update ${table} set ${text} where ${isRow} and hold_until <= ?${isOpen} returning holder`,
        [...values, ...keyOf(row as unknown as Pick<Row<T>, K>), agreedMs],
      );
      return taken.length > 0;
    },
    async add({ tx, agreedMs }, row, holdMs = usualMs) {
      const added = await select(
        tx,
        `insert into ${table} (${[...key, "holder", "hold_until"].join(", ")}) values (${"?, ".repeat(key.length)}?, ?)
         on conflict (${key.join(", ")}) do update set holder = excluded.holder, hold_until = excluded.hold_until
         where ${table}.hold_until <= ? returning holder`,
        [...keyOf(row), row.holder, agreedMs + holdMs, agreedMs],
      );
      return added.length > 0;
    },
    async renew({ tx, agreedMs }, row, columns, holdMs = usualMs) {
      const [renewed] = await select<Pick<Row<T>, (typeof columns)[number]>>(
        tx,
        `update ${table} set hold_until = ? where ${isRow} and holder = ?${isOpen} returning ${columns.join(", ")}`,
        [agreedMs + holdMs, ...keyOf(row), row.holder],
      );
      return renewed;
    },
    async end({ tx }, row, set = {}) {
      const { text, values } = assignments({ holder: "", hold_until: 0, ...set });
      await select(tx, `update ${table} set ${text} where ${isRow}`, [...values, ...keyOf(row)]);
    },
    async remove({ tx }, row) {
      await select(tx, `delete from ${table} where ${isRow} and holder = ?`, [...keyOf(row), row.holder]);
    },
  };
}

/** Columns and values for `set`; the columns are names in the code. */
function assignments(set: object): { text: string; values: Bindable[] } {
  const entries = Object.entries(set) as [string, Bindable][];
  return {
    text: entries.map(([column]) => `${column} = ?`).join(", "),
    values: entries.map(([, value]) => value),
  };
}
