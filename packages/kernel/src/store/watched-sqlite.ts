import type { DatabaseSync } from "node:sqlite";
import type { Database } from "./store.ts";
import { type Columns, setWatched, type WatchedRow } from "./watched-rows.ts";

const FUNCTION = "moorage_note_row";

/** Watches what a connection changes, by triggers of its own: the file has none of them. */
export function watchSqlite(db: Database, raw: DatabaseSync): void {
  const rows: WatchedRow[] = [];
  const keys = new Map<string, readonly string[]>();
  raw.function(FUNCTION, { varargs: true }, (table, change, before, after) => {
    rows.push({
      table: String(table),
      change: change as WatchedRow["change"],
      key: keys.get(String(table)) ?? [],
      before: columnsOf(before),
      after: columnsOf(after),
    });
    return null;
  });
  for (const { name: table } of raw.prepare(TABLES).all() as { name: string }[]) {
    const columns = raw.prepare(`pragma table_info(${table})`).all() as { name: string; type: string; pk: number }[];
    const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
    keys.set(
      table,
      key.map(({ name }) => name),
    );
    const names = columns.filter(({ type }) => type.toLowerCase() !== "blob").map(({ name }) => name);
    for (const [change, before, after] of CHANGES)
      // A prepared statement: what `exec` runs counts as a change of tables.
      raw
        .prepare(
          `create temp trigger watch_${change}_${table} after ${change} on main.${table} begin
            select ${FUNCTION}('${table}', '${change}', ${jsonOf(before, names)}, ${jsonOf(after, names)}); end`,
        )
        .run();
  }
  setWatched(db, () => rows.splice(0));
}

const TABLES = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name";
const CHANGES = [
  ["insert", "", "new"],
  ["update", "old", "new"],
  ["delete", "old", ""],
] as const;

function jsonOf(row: string, columns: readonly string[]): string {
  return row === "" ? "null" : `json_object(${columns.map((name) => `'${name}', ${row}.${name}`).join(", ")})`;
}

function columnsOf(text: unknown): Columns | null {
  return typeof text === "string" ? (JSON.parse(text) as Columns) : null;
}
