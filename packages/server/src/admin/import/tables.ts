import type { Database, Store } from "../../store/index.ts";
import { linesOf } from "../json-lines.ts";
import { type ExportManifest, tablePath } from "../export/manifest.ts";
import { writeMarker } from "../../installation/marker.ts";
import type { Report } from "../progress.ts";
import { type MovedTable, type PlainRow, rowOf } from "../tables.ts";

export interface TableImport {
  store: Store;
  folder: string;
  manifest: ExportManifest;
  table: MovedTable;
  /** The byte of the file to go on from. */
  from: number;
  report: Report;
  /** What is done with a batch before its transaction. Answers the rows to keep. */
  prepare?(rows: PlainRow[]): Promise<PlainRow[]>;
  keep(tx: Database, rows: PlainRow[]): Promise<void>;
  /** Rows of one transaction, at most. */
  batchRows?: number;
}

const BATCH_ROWS = 500;
const BATCH_BYTES = 8 << 20;

/**
 * Brings the rows of a file in, a batch a transaction, each with the mark of how far it has come: what is committed is
 * not done again.
 */
export async function importTable({
  store,
  folder,
  manifest,
  table,
  from,
  report,
  prepare = async (rows) => rows,
  keep,
  batchRows = BATCH_ROWS,
}: TableImport): Promise<void> {
  const total = manifest.tables[table.name]?.bytes ?? 0;
  let rows: PlainRow[] = [];
  let begin = from;
  let end = from;
  const flush = async (): Promise<void> => {
    const offset = end;
    const kept = await prepare(rows);
    await store.transact(async (tx) => {
      await keep(tx, kept);
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
  // The mark is set for a table without rows as well: what comes before it is done.
  await flush();
}
