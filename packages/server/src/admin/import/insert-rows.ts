import type { Kysely } from "kysely";
import type { Database } from "@moorage/kernel/store";
import type { ExportedTable, PlainRow } from "../tables.ts";

/** Adds rows in one statement. */
export async function insertRows(tx: Database, { name }: ExportedTable, rows: PlainRow[]): Promise<void> {
  // The query builder cannot infer a table that is only known at run time; here rows are plain records.
  if (rows.length > 0)
    await (tx as unknown as Kysely<Record<string, PlainRow>>).insertInto(name).values(rows).execute();
}
