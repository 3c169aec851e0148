import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Config } from "@moorage/kernel/config";
import {
  connect,
  databasePath,
  NEWEST_VERSION,
  openReader,
  openStore,
  type Database,
  StoreError,
} from "@moorage/kernel/store";
import { secretKeyFile } from "../../installation/secret-keys.ts";
import { blobFile, blobsBelow, copyDurably, linkOrCopy, syncFolders } from "./files.ts";
import { BACKUP_FORMAT, type BackupManifest, writeBackup } from "./manifest.ts";
import type { BlobRow } from "../blob-files.ts";
import { hashOf } from "../json-lines.ts";
import { requireFinished } from "../../installation/marker.ts";
import { isEmptyFolder, requireNewest } from "../../installation/stores.ts";
import type { Report } from "../progress.ts";
import { rowsOf } from "../tables.ts";
import { namingFullDisk } from "../full-disk.ts";

const MAX_ROUNDS = 10;
const PAGE_BATCH = 2000;

/**
 * Copies an embedded installation to a new or empty folder; its server may run. The backup has every blob that the
 * copied database has a row for, and everything that was acknowledged before the backup began. Throws a StoreError in
 * one line, after which the folder holds no valid backup.
 */
export async function backupInstallation(config: Config, folder: string, report: Report): Promise<BackupManifest> {
  return await namingFullDisk([folder, config.dataDir], () => backUp(config, folder, report));
}

async function backUp(config: Config, folder: string, report: Report): Promise<BackupManifest> {
  const { dataDir } = config;
  if (config.databaseUrl !== "" || config.blobsUrl !== "")
    throw new StoreError(
      "backup is for SQLite and files: back up PostgreSQL by pg_dump and the bucket by its versioning, or use moorage export",
    );
  if (!isEmptyFolder(folder)) throw new StoreError(`${folder} is not empty`);
  const store = await openStore(config);
  try {
    await requireNewest(store, config);
    await requireFinished(store.reader);
  } finally {
    await store.close();
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const target = databasePath(folder);
  // Blobs first: most of those pushed before the database is copied are copied by then, and those deleted meanwhile
  // stay in the backup.
  await linkAll(dataDir, folder, report);
  for (let round = 1; ; round += 1) {
    await copyDatabase(databasePath(dataDir), target, report);
    const missing = await completeBlobs(dataDir, folder, report);
    if (missing === undefined) break;
    // The blob was pushed after the first pass, and deleted after the database was copied; a new copy of the database
    // has no row for it.
    if (round === MAX_ROUNDS) throw new StoreError(`the content of the blob ${missing} is missing: run moorage fsck`);
    report.note("blobs were deleted while the backup was made: the database is copied anew");
  }
  await removeUnnamed(folder);
  if (existsSync(secretKeyFile(dataDir))) await copyDurably(secretKeyFile(dataDir), secretKeyFile(folder));
  if (config.secretKeys.length > 0)
    report.note("secrets in the backup are encrypted with the key of MOORAGE_SECRET_KEY, which is not in it");
  await copyDurably(join(dataDir, "bootstrap.json"), join(folder, "bootstrap.json"));
  const manifest: BackupManifest = {
    format: BACKUP_FORMAT,
    time: new Date().toISOString(),
    schemaVersion: NEWEST_VERSION,
    database: await hashOf(target),
    blobs: await inDatabase(target, sumOf),
  };
  await syncFolders(folder);
  writeBackup(folder, manifest);
  return manifest;
}

async function linkAll(dataDir: string, folder: string, report: Report): Promise<void> {
  const total = await inDatabase(databasePath(dataDir), async (db) => (await sumOf(db)).count);
  let done = 0;
  for await (const blob of blobsBelow(dataDir)) {
    await linkOrCopy(blobFile(dataDir, blob), blobFile(folder, blob));
    done += 1;
    report.progress({ step: "blobs", done, total: Math.max(done, total), unit: "blobs" });
  }
}

// The open read transaction keeps commits of other processes from restarting the copy.
async function copyDatabase(from: string, to: string, report: Report): Promise<void> {
  rmSync(to, { force: true });
  const source = connect(from, { readOnly: true });
  try {
    source.exec("begin; select count(*) from sqlite_schema;");
    await backup(source, to, {
      rate: PAGE_BATCH,
      progress: ({ totalPages, remainingPages }) =>
        report.progress({ step: "database", done: totalPages - remainingPages, total: totalPages, unit: "pages" }),
    });
  } finally {
    source.close();
  }
  chmodSync(to, 0o600);
  // One file alone, which can be read on a read-only file system.
  const target = new DatabaseSync(to);
  target.exec("pragma journal_mode = delete");
  target.close();
  checkDatabase(to);
  await syncFile(to);
}

/** Throws a StoreError when the file is not a valid database. */
export function checkDatabase(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database.prepare("pragma quick_check(1)").all() as { quick_check: string }[];
    if (rows[0]?.quick_check !== "ok") throw new StoreError(`${path} is damaged: ${rows[0]?.quick_check ?? ""}`);
  } finally {
    database.close();
  }
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
}

/**
 * Ensures that every blob of the copied database is in the folder, with its size. Returns the digest of one that is
 * nowhere.
 */
async function completeBlobs(dataDir: string, folder: string, report: Report): Promise<string | undefined> {
  return inDatabase(databasePath(folder), async (db) => {
    const { count } = await sumOf(db);
    let done = 0;
    for await (const blob of blobRows(db)) {
      const file = blobFile(folder, blob);
      if (!existsSync(file) && !(await linkOrCopy(blobFile(dataDir, blob), file))) return blob.digest;
      if (statSync(file).size !== blob.size)
        throw new StoreError(`the blob ${blob.digest} has a wrong size: run moorage fsck`);
      done += 1;
      report.progress({ step: "checking blobs", done, total: count, unit: "blobs" });
    }
    return undefined;
  });
}

/** Removes blobs that the copied database has no row for: they were deleted before it was copied, or pushed after. */
async function removeUnnamed(folder: string): Promise<void> {
  await inDatabase(databasePath(folder), async (db) => {
    for await (const blob of blobsBelow(folder)) {
      const named = await db
        .selectFrom("blobs")
        .select("digest")
        .where("digest", "=", blob.digest)
        .where("generation", "=", blob.generation)
        .executeTakeFirst();
      if (named === undefined) await rm(blobFile(folder, blob), { force: true });
    }
  });
}

/** All rows of `blobs`. */
export async function* blobRows(db: Database): AsyncGenerator<BlobRow> {
  for await (const batch of rowsOf(db, "blobs")) yield* batch;
}

async function sumOf(db: Database): Promise<{ count: number; bytes: number }> {
  const row = await db
    .selectFrom("blobs")
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.sum<number | null>("size").as("bytes")])
    .executeTakeFirst();
  return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 };
}

/** Opens a database by its file for reading. */
export async function inDatabase<T>(path: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openReader(path);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
