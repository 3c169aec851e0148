import { createHash } from "node:crypto";
import { type Store, StoreError } from "@moorage/kernel/store";
import type { ExportManifest } from "../export/manifest.ts";
import type { Report } from "../progress.ts";
import { inSnapshot } from "../snapshot.ts";
import { batchesOf, countOf, lineOf, EXPORTED_TABLES } from "../tables.ts";

// These tables differ by design: generations belong to the store, and secrets are resealed.
const OWN = new Set(["blobs", "installation", "signing_keys"]);

/**
 * Compares the database with the export: the number of rows of every table, and the digest of its rows. Throws a
 * StoreError.
 */
export async function checkImported(
  store: Store,
  dataDir: string,
  { tables }: ExportManifest,
  report: Report,
): Promise<void> {
  await inSnapshot(store, dataDir, async (db) => {
    for (const table of EXPORTED_TABLES) {
      const exported = tables[table.name];
      const rows = await countOf(db, table);
      if (rows !== exported?.rows)
        throw new StoreError(
          `the table ${table.name} has ${rows} rows after the import, and ${exported?.rows ?? 0} in the export`,
        );
      if (OWN.has(table.name)) continue;
      const hash = createHash("sha256");
      let done = 0;
      for await (const batch of batchesOf(db, table)) {
        for (const row of batch) hash.update(lineOf(table, row));
        done += batch.length;
        report.progress({ step: `checking table ${table.name}`, done, total: rows, unit: "rows" });
      }
      if (hash.digest("hex") !== exported.sha256)
        throw new StoreError(`the rows of the table ${table.name} differ from those in the export`);
    }
  });
}
