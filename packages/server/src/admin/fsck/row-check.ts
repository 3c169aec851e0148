import type { Database } from "../../store/index.ts";
import { ask, type PlainRow } from "../tables.ts";

/** A check that needs only SQL statements. */
export interface RowCheck {
  kind: string;
  /** What the fault means, and what to do where it cannot be repaired. */
  meaning: string;
  /** Selects the rows at fault. */
  find: string;
  /** The columns by which a row is shown. */
  show: readonly string[];
  /** Repairs a row. Undefined when it cannot be repaired. */
  repair?(tx: Database, row: PlainRow): Promise<void>;
  /** A notice, not a fault. */
  notice?: true;
}

/** A repair that deletes the rows with the key of the row at fault. */
export function remove(table: string, key: readonly string[]): NonNullable<RowCheck["repair"]> {
  return async (tx, row) => {
    await ask(
      tx,
      `delete from ${table} where ${key.map((column) => `${column} = ?`).join(" and ")}`,
      key.map((column) => row[column]),
    );
  };
}
