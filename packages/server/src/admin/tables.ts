import type { Database, Row, TableDeclaration, Tables } from "@moorage/kernel/store";
import { CompiledQuery } from "kysely";
import { AREAS } from "../areas.ts";

/** A table that an export contains. */
export interface ExportedTable extends TableDeclaration {
  readonly name: keyof Tables;
}

export type PlainRow = Record<string, unknown>;

/** All tables but those whose rows are of running servers; blobs, of which there is most to import, come first. */
export const EXPORTED_TABLES: readonly ExportedTable[] = AREAS.flatMap(({ tables = {} }) => Object.entries(tables))
  .filter(([, { isLive = false }]) => !isLive)
  // The names are those of Tables: see declareTables.
  .map(([name, table]): ExportedTable => ({ name: name as keyof Tables, ...table }))
  .toSorted((one, other) => Number(other.name === "blobs") - Number(one.name === "blobs"));

const BATCH_ROWS = 1000;
const BATCH_BYTES = 8 << 20;

/** Runs a statement with question marks for its parameters, whatever the engine. */
export async function ask<R>(db: Database, text: string, parameters: readonly unknown[] = []): Promise<R[]> {
  return (await db.executeQuery<R>(CompiledQuery.raw(text, [...parameters]))).rows;
}

/** The rows of one table, as `batchesOf` reads them. */
export async function* rowsOf<T extends keyof Tables>(db: Database, name: T): AsyncGenerator<Row<T>[]> {
  // A `select *` of the table gives its rows.
  for await (const batch of batchesOf(db, exportedTable(name))) yield batch as unknown as Row<T>[];
}

export function exportedTable(name: keyof Tables): ExportedTable {
  const found = EXPORTED_TABLES.find((table) => table.name === name);
  if (found === undefined) throw new Error(`the table ${name} is not exported`);
  return found;
}

/** The rows of a table in the order of its key, in batches of bounded size. */
export async function* batchesOf(db: Database, table: ExportedTable): AsyncGenerator<PlainRow[]> {
  const { name, key, weight } = table;
  const keys = key.join(", ");
  const where = (extra: string[]): string => {
    const conditions = [...(table.only === undefined ? [] : [table.only]), ...extra];
    return conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  };
  const compare = (sign: string): string => `(${keys}) ${sign} (${key.map(() => "?").join(", ")})`;
  const keyOf = (row: PlainRow): unknown[] => key.map((column) => row[column]);
  let after: unknown[] = [];
  for (;;) {
    const from = after.length === 0 ? [] : [compare(">")];
    let to: unknown[] = [];
    if (weight !== undefined) {
      // The sizes are read first: a thousand of the largest rows would not fit in memory.
      const weighed = await ask<PlainRow & { weight: number }>(
        db,
        `select ${keys}, ${weight} as weight from ${name}${where(from)} order by ${keys} limit ${BATCH_ROWS}`,
        after,
      );
      let bytes = 0;
      const cut = weighed.findIndex((row) => (bytes += row.weight) >= BATCH_BYTES);
      const last = weighed[cut < 0 ? weighed.length - 1 : cut];
      if (last === undefined) return;
      to = keyOf(last);
    }
    const until = to.length === 0 ? [] : [compare("<=")];
    const rows = await ask<PlainRow>(
      db,
      `select * from ${name}${where([...from, ...until])} order by ${keys} limit ${BATCH_ROWS}`,
      [...after, ...to],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(last);
  }
}

/** The number of rows that an export contains. */
export async function countOf(db: Database, { name, only }: ExportedTable): Promise<number> {
  const [row] = await ask<{ n: number }>(
    db,
    `select count(*) as n from ${name}${only === undefined ? "" : ` where ${only}`}`,
  );
  return row?.n ?? 0;
}

/** A row as a line of JSON, with bytes in base64. */
export function lineOf({ bytes = [] }: ExportedTable, row: PlainRow): string {
  const encoded = bytes.map((column) => [column, Buffer.from(row[column] as Uint8Array).toString("base64")] as const);
  return `${JSON.stringify({ ...row, ...Object.fromEntries(encoded) })}\n`;
}

/** The row of a line. */
export function rowOf({ bytes = [] }: ExportedTable, line: string): PlainRow {
  const row = JSON.parse(line) as PlainRow;
  for (const column of bytes) row[column] = Buffer.from(String(row[column]), "base64");
  return row;
}
