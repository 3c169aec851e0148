import type { Database, Store } from "@moorage/kernel/store";
import { linesOf } from "../json-lines.ts";
import { type ExportManifest, tablePath } from "../export/manifest.ts";
import { writeMarker } from "../../installation/marker.ts";
import type { Report } from "../progress.ts";
import { type ExportedTable, type PlainRow, rowOf } from "../tables.ts";

export interface TableImport {
  store: Store;
  folder: string;
  manifest: ExportManifest;
  table: ExportedTable;
  /** The offset in the file, in bytes, to continue from. */
  from: number;
  report: Report;
  /** Processes a batch before its transaction, and returns the rows to insert. */
  prepare?(rows: PlainRow[]): Promise<PlainRow[]>;
  insert(tx: Database, rows: PlainRow[]): Promise<void>;
  /** The maximum of rows in one transaction. */
  batchRows?: number;
}

const BATCH_ROWS = 500;
const BATCH_BYTES = 8 << 20;

/**
 * Imports the rows of a file, a batch per transaction, each with a marker of the progress, so that committed batches
 * are not repeated.
 */
export async function importTable({
  store,
  folder,
  manifest,
  table,
  from,
  report,
  prepare = async (rows) => rows,
  insert,
  batchRows = BATCH_ROWS,
}: TableImport): Promise<void> {
  const total = manifest.tables[table.name]?.bytes ?? 0;
  let rows: PlainRow[] = [];
  let begin = from;
  let end = from;
  const flush = async (): Promise<void> => {
    const offset = end;
    const prepared = await prepare(rows);
    await store.transact(async (tx) => {
      await insert(tx, prepared);
      await writeMarker(tx, { source: manifest.id, table: table.name, offset });
    });
    report.progress({ step: `table ${table.name}`, done: offset, total, unit: "bytes" });
    rows = [];
    begin = offset;
  };
  for await (const line of linesOf(tablePath(folder, table.name), from)) {
    rows.push(rowOf(table, line.text));
    end = line.end;
    if (rows.length >= batchRows || end - begin >= BATCH_BYTES) await flush();
  }
  // The marker is also set for a table without rows: everything before it is done.
  await flush();
}
