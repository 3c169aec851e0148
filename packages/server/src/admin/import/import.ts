import type { BlobStore } from "@moorage/kernel/blobs";
import { type Config, settingError } from "@moorage/kernel/config";
import { createSecrets, isSealed, SecretError, type Secrets } from "@moorage/kernel/lib/secrets";
import { NEWEST_VERSION, type Store, StoreError } from "@moorage/kernel/store";
import { openPageTokenKey, resealInstallation } from "../../installation/bootstrap.ts";
import { takeDataDir } from "../../installation/open.ts";
import { readKeyFile, secretKeyFile, secretKeysOf } from "../../installation/secret-keys.ts";
import { importBlobs, leftOverBlobs, removeUploads } from "./blobs.ts";
import { hashOf, linesOf } from "../json-lines.ts";
import { type ExportManifest, readManifest, tablePath } from "../export/manifest.ts";
import { readMarker, removeMarker, writeMarker } from "../../installation/marker.ts";
import { openBlobsOf, openStoreForLongStatements } from "../../installation/stores.ts";
import type { Report } from "../progress.ts";
import { insertRows } from "./insert-rows.ts";
import { ask, EXPORTED_TABLES, rowOf } from "../tables.ts";
import { importTable } from "./tables.ts";
import { checkImported } from "./verify.ts";
import { namingFullDisk } from "../full-disk.ts";

/**
 * Imports an export into an empty installation, or continues an interrupted import of the same export. No server starts
 * on it until the import is complete. Throws a StoreError or a ConfigError in one line, after which the import can be
 * run again.
 */
export async function importInstallation(config: Config, folder: string, report: Report): Promise<ExportManifest> {
  return await namingFullDisk([config.dataDir], () => importFrom(config, folder, report));
}

async function importFrom(config: Config, folder: string, report: Report): Promise<ExportManifest> {
  const manifest = usable(folder);
  await verifyTables(folder, manifest, report);
  const sourceKeys = sourceKeysOf(config, folder, manifest);
  await checkKeys(folder, sourceKeys);
  const lock = takeDataDir(config.dataDir);
  try {
    const store = await openStoreForLongStatements(config);
    try {
      await store.migrate();
      const resumed = await findMarker(store, manifest);
      const blobs = await openBlobsOf(config);
      if (!resumed) await begin(store, blobs, manifest);
      const keys = await secretKeysOf(config, store);
      await importTables(store, blobs, folder, manifest, report);
      await checkImported(store, config.dataDir, manifest, report);
      await store.transact((tx) => end(tx, store.engine, createSecrets([...keys, ...sourceKeys])));
      return manifest;
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

function usable(folder: string): ExportManifest {
  const manifest = readManifest(folder);
  if (manifest === undefined) throw new StoreError(`there is no export in ${folder}`);
  if (!manifest.complete)
    throw new StoreError(`the export in ${folder} has not come to its end: run moorage export again`);
  if (manifest.schemaVersion !== NEWEST_VERSION)
    throw new StoreError(
      `the export is of schema version ${manifest.schemaVersion}, this moorage works with ${NEWEST_VERSION}: export and import with the same version`,
    );
  return manifest;
}

/** Throws a StoreError for a table that differs from what was exported. */
async function verifyTables(folder: string, { tables }: ExportManifest, report: Report): Promise<void> {
  for (const { name } of EXPORTED_TABLES) {
    const exported = tables[name];
    let done = 0;
    const sha256 =
      exported &&
      (await hashOf(tablePath(folder, name), "sha256", (bytes) => {
        done += bytes;
        report.progress({ step: `verifying table ${name}`, done, total: exported.bytes, unit: "bytes" });
      }).catch((cause: unknown) => {
        throw new StoreError(`cannot read ${tablePath(folder, name)}`, { cause });
      }));
    if (exported === undefined || sha256 !== exported.sha256)
      throw new StoreError(`${tablePath(folder, name)} is not what was exported: its digest differs`);
  }
}

function sourceKeysOf({ secretKeys }: Config, folder: string, { secretKey }: ExportManifest): readonly Uint8Array[] {
  if (secretKey === "settings") return secretKeys;
  const key = readKeyFile(secretKeyFile(folder));
  if (key === undefined)
    throw new StoreError(`there is no ${secretKeyFile(folder)}, which decrypts the export's secrets`);
  return [key];
}

// Checked before anything is copied, which may take hours.
async function checkKeys(folder: string, keys: readonly Uint8Array[]): Promise<void> {
  const table = EXPORTED_TABLES.find(({ name }) => name === "installation");
  if (table === undefined) return;
  for await (const { text } of linesOf(tablePath(folder, "installation"))) {
    const { key, value } = rowOf(table, text);
    if (key !== "page_token_key" || !isSealed(String(value))) continue;
    try {
      openPageTokenKey(createSecrets(keys), String(value));
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      throw settingError(
        "secretKeys",
        "the export's secrets were encrypted with another key: name the source's key as well, after the new one if there is to be a new one",
        { cause: error },
      );
    }
  }
}

/** Whether an import of this export is under way. Throws a StoreError when another import, or a restore, is. */
async function findMarker(store: Store, { id }: ExportManifest): Promise<boolean> {
  const marker = await readMarker(store.reader);
  if (marker === undefined) return false;
  if (marker.source !== id)
    throw new StoreError(
      "an import of another export, or a restore, has not come to its end here: start with an empty data folder and database, or with that export",
    );
  return true;
}

async function begin(store: Store, blobs: BlobStore, { id }: ExportManifest): Promise<void> {
  for await (const { digest } of blobs.listBlobs())
    throw new StoreError(`there are blobs already, such as ${digest}: import into an empty blob store`);
  await store.transact(async (tx) => {
    for (const { name } of [...EXPORTED_TABLES, { name: "uploads" }]) {
      if ((await ask(tx, `select 1 from ${name} limit 1`)).length > 0)
        throw new StoreError(
          `there is an installation already (the table ${name} is not empty): import into an empty one`,
        );
    }
    await writeMarker(tx, { source: id, table: EXPORTED_TABLES[0]?.name ?? "", offset: 0 });
  });
}

/** Continues from the marker. */
async function importTables(
  store: Store,
  blobs: BlobStore,
  folder: string,
  manifest: ExportManifest,
  report: Report,
): Promise<void> {
  const marker = await readMarker(store.reader);
  const first = EXPORTED_TABLES.findIndex(({ name }) => name === marker?.table);
  for (const [at, table] of EXPORTED_TABLES.entries()) {
    if (marker === undefined || at < first) continue;
    const from = at === first ? marker.offset : 0;
    if (table.name === "blobs") {
      await removeUploads(blobs);
      const left = await leftOverBlobs(store, blobs);
      await importBlobs({ store, blobs, folder, manifest, table, from, left, report });
    } else {
      await importTable({
        store,
        folder,
        manifest,
        table,
        from,
        report,
        insert: (tx, rows) => insertRows(tx, table, rows),
      });
    }
  }
}

async function end(tx: Parameters<typeof removeMarker>[0], engine: Store["engine"], secrets: Secrets): Promise<void> {
  await resealInstallation(tx, secrets);
  // Rows with an explicit number do not advance PostgreSQL's sequence; new events must get higher numbers. SQLite does
  // this by itself.
  if (engine === "postgres")
    await ask(
      tx,
      "select setval(pg_get_serial_sequence('event_outbox', 'n'), coalesce(max(n), 1), max(n) is not null) from event_outbox",
    );
  await removeMarker(tx);
}
