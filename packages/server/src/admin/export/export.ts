import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, opendirSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import { NEWEST_VERSION, type Store, StoreError } from "@moorage/kernel/store";
import { readKeyFile, secretKeyFile } from "../../installation/secret-keys.ts";
import { copyDurably, syncFolders } from "../backup/files.ts";
import { type BlobRow, copyBlob } from "../blob-files.ts";
import { linesOf, writeHashed } from "../json-lines.ts";
import { blobPath, type ExportManifest, FORMAT, readManifest, tablePath, writeManifest } from "./manifest.ts";
import { requireFinished } from "../../installation/marker.ts";
import { isEmptyFolder, openBlobsOf, openStoreForLongStatements, requireNewest } from "../../installation/stores.ts";
import type { Report } from "../progress.ts";
import { inSnapshot } from "../snapshot.ts";
import { batchesOf, countOf, lineOf, EXPORTED_TABLES, type ExportedTable, rowOf } from "../tables.ts";
import { namingFullDisk } from "../full-disk.ts";

const BLOB_CONCURRENCY = 4;
// How often the tables are read again because blobs in them have been deleted meanwhile.
const MAX_ROUNDS = 5;
const MAX_REPORTED = 5;
const MAX_GONE = 1000;

/**
 * Writes a whole installation to a folder, which must be empty or hold an export of the same installation; then only
 * blobs that it lacks are copied. The server may run. Throws a StoreError, after which the export can be run again.
 */
export async function exportInstallation(config: Config, folder: string, report: Report): Promise<ExportManifest> {
  return await namingFullDisk([folder, config.dataDir], () => exportTo(config, folder, report));
}

async function exportTo(config: Config, folder: string, report: Report): Promise<ExportManifest> {
  const before = readManifest(folder);
  if (before === undefined && !isEmptyFolder(folder))
    throw new StoreError(`${folder} is not empty, and holds no export`);
  const store = await openStoreForLongStatements(config);
  try {
    await requireNewest(store, config);
    await requireFinished(store.reader);
    const installation = await installationOf(store);
    if (before !== undefined && before.installation !== installation)
      throw new StoreError(`${folder} holds the export of another installation`);
    mkdirSync(join(folder, "tables"), { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const start: ExportManifest = {
      format: FORMAT,
      id: randomUUID(),
      complete: false,
      time: new Date().toISOString(),
      schemaVersion: NEWEST_VERSION,
      installation,
      secretKey: config.secretKeys.length > 0 ? "settings" : "file",
      tables: {},
      blobs: { count: 0, bytes: 0 },
    };
    writeManifest(folder, start);
    await takeKey(config, folder, report);
    const done = await copyAll(store, await openBlobsOf(config), config, folder, start, report);
    await syncFolders(folder);
    writeManifest(folder, done);
    return done;
  } finally {
    await store.close();
  }
}

async function installationOf({ reader }: Store): Promise<string> {
  const row = await reader.selectFrom("installation").select("value").where("key", "=", "bootstrap").executeTakeFirst();
  if (row === undefined)
    throw new StoreError("there is no installation in this database: no server has started on it yet");
  return (JSON.parse(row.value) as { identity: { uid: string } }).identity.uid;
}

async function takeKey({ dataDir, secretKeys }: Config, folder: string, report: Report): Promise<void> {
  const target = secretKeyFile(folder);
  if (secretKeys.length > 0) {
    rmSync(target, { force: true });
    report.note("secrets stay encrypted with the key of MOORAGE_SECRET_KEY: the import needs that key as well");
    return;
  }
  if (readKeyFile(secretKeyFile(dataDir)) === undefined)
    throw new StoreError(`there is no ${secretKeyFile(dataDir)}: without it the export could not be used`);
  await copyDurably(secretKeyFile(dataDir), target);
  chmodSync(target, 0o600);
  report.note(`${folder} holds the key that decrypts its secrets: keep it as safe as the data folder`);
}

async function copyAll(
  store: Store,
  blobs: BlobStore,
  { dataDir }: Config,
  folder: string,
  start: ExportManifest,
  report: Report,
): Promise<ExportManifest> {
  // The next whole millisecond: all files of earlier runs are older.
  const startMs = Date.now() + 1;
  for (let round = 1; ; round += 1) {
    const tables: ExportManifest["tables"] = {};
    const total = await inSnapshot(store, dataDir, async (db) => {
      for (const table of EXPORTED_TABLES) tables[table.name] = await writeTable(db, table, folder, report);
      const sum = await db
        .selectFrom("blobs")
        .select((eb) => [eb.fn.sum<number>("size").as("bytes")])
        .executeTakeFirst();
      return { count: tables["blobs"]?.rows ?? 0, bytes: sum?.bytes ?? 0 };
    });
    const gone = await copyBlobs(blobs, folder, total.bytes, startMs, report);
    const lost = await stillNamed(store, gone);
    if (lost.length > 0)
      throw new StoreError(`blobs are missing or damaged, such as ${lost[0]?.digest}: moorage fsck --deep lists them`);
    if (gone.length === 0) {
      await removeOthers(folder);
      return { ...start, complete: true, tables, blobs: total };
    }
    if (round === MAX_ROUNDS) throw new StoreError("blobs are deleted faster than they are copied: run it again");
    report.note("blobs were deleted while they were copied: the tables are read anew");
  }
}

async function writeTable(
  db: Parameters<typeof batchesOf>[0],
  table: ExportedTable,
  folder: string,
  report: Report,
): Promise<ExportManifest["tables"][string]> {
  const total = await countOf(db, table);
  let rows = 0;
  const pieces = async function* (): AsyncGenerator<string> {
    for await (const batch of batchesOf(db, table)) {
      yield batch.map((row) => lineOf(table, row)).join("");
      rows += batch.length;
      report.progress({ step: `table ${table.name}`, done: rows, total, unit: "rows" });
    }
  };
  const written = await writeHashed(tablePath(folder, table.name), pieces());
  return { rows, ...written };
}

/** Copies the blobs of the written table. Returns those that are missing or damaged, up to a limit. */
async function copyBlobs(
  blobs: BlobStore,
  folder: string,
  total: number,
  startMs: number,
  report: Report,
): Promise<BlobRow[]> {
  const gone: BlobRow[] = [];
  let done = 0;
  await forEachConcurrently(exportedBlobs(folder), BLOB_CONCURRENCY, async (row) => {
    const outcome = await copyBlob(blobs, row, blobPath(folder, row.digest), startMs, (bytes) => {
      done += bytes;
      report.progress({ step: "blobs", done, total, unit: "bytes" });
    });
    if ((outcome === "missing" || outcome === "damaged") && gone.length < MAX_GONE) gone.push(row);
  });
  return gone;
}

/** The blobs of an export, in the order of their digests. */
async function* exportedBlobs(folder: string): AsyncGenerator<BlobRow> {
  const table = EXPORTED_TABLES.find(({ name }) => name === "blobs");
  if (table === undefined) return;
  for await (const { text } of linesOf(tablePath(folder, "blobs"))) yield rowOf(table, text) as PlainBlob;
}

type PlainBlob = BlobRow & Record<string, unknown>;

/** Those of the blobs that still have a row in the database. */
async function stillNamed({ reader }: Store, rows: BlobRow[]): Promise<BlobRow[]> {
  const named: BlobRow[] = [];
  for (const row of rows) {
    const found = await reader
      .selectFrom("blobs")
      .select("digest")
      .where("digest", "=", row.digest)
      .where("generation", "=", row.generation)
      .executeTakeFirst();
    if (found !== undefined) named.push(row);
    if (named.length >= MAX_REPORTED) break;
  }
  return named;
}

// An earlier run may have copied blobs that have no row any more. Rows and files are compared folder by folder, both in
// order.
async function removeOthers(folder: string): Promise<void> {
  const root = join(folder, "blobs");
  if (!existsSync(root)) return;
  const named = exportedBlobs(folder);
  let next = (await named.next()).value as BlobRow | undefined;
  for (const algorithm of readdirSync(root).sort()) {
    for (const shard of readdirSync(join(root, algorithm)).sort()) {
      const files = new Set<string>();
      const opened = opendirSync(join(root, algorithm, shard));
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) files.add(entry.name);
      opened.closeSync();
      const prefix = `${algorithm}:${shard}`;
      while (next !== undefined && next.digest.slice(0, prefix.length) <= prefix) {
        files.delete(next.digest.slice(algorithm.length + 1));
        next = (await named.next()).value as BlobRow | undefined;
      }
      for (const file of files) rmSync(join(root, algorithm, shard, file), { force: true });
      if (readdirSync(join(root, algorithm, shard)).length === 0) rmdirSync(join(root, algorithm, shard));
    }
  }
}
