import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "@moorage/kernel/config";
import { databasePath, migrate, openWriter, StoreError } from "@moorage/kernel/store";
import { takeDataDir } from "../../installation/open.ts";
import { secretKeyFile } from "../../installation/secret-keys.ts";
import { blobRows, checkDatabase, inDatabase } from "./backup.ts";
import { blobFile, copyDurably, linkOrCopy, syncFolders } from "./files.ts";
import { type BackupManifest, readBackup } from "./manifest.ts";
import { hashOf } from "../json-lines.ts";
import { removeMarker, writeMarker } from "../../installation/marker.ts";
import { isEmptyFolder } from "../../installation/stores.ts";
import type { Report } from "../progress.ts";
import { namingFullDisk } from "../full-disk.ts";

/**
 * Creates a data folder, which must be empty or new, from a backup. `verify` hashes every blob as well. No server
 * starts on the folder until the restore is complete. Throws a StoreError in one line, after which the folder must be
 * emptied.
 */
export async function restoreInstallation(
  config: Config,
  folder: string,
  { verify }: { verify: boolean },
  report: Report,
): Promise<BackupManifest> {
  return await namingFullDisk([config.dataDir], () => restore(config, folder, { verify }, report));
}

async function restore(
  config: Config,
  folder: string,
  { verify }: { verify: boolean },
  report: Report,
): Promise<BackupManifest> {
  const { dataDir } = config;
  if (config.databaseUrl !== "" || config.blobsUrl !== "")
    throw new StoreError(
      "restore makes a data folder with SQLite and files: moorage export and import move one to PostgreSQL and S3",
    );
  const manifest = readBackup(folder);
  if (!isEmptyFolder(dataDir)) throw new StoreError(`${dataDir} is not empty`);
  if ((await hashOf(databasePath(folder))) !== manifest.database)
    throw new StoreError(`${databasePath(folder)} is not what was backed up: its digest differs`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
  const lock = takeDataDir(dataDir);
  try {
    const path = databasePath(dataDir);
    // An empty database with the marker, so that no server takes the folder for a new one while the real database is
    // copied.
    migrate(path);
    await marked(path, manifest.database);
    await copyDurably(databasePath(folder), `${path}.new`);
    chmodSync(`${path}.new`, 0o600);
    checkDatabase(`${path}.new`);
    await marked(`${path}.new`, manifest.database);
    await rename(`${path}.new`, path);
    if (existsSync(secretKeyFile(folder))) await copyDurably(secretKeyFile(folder), secretKeyFile(dataDir));
    await copyDurably(join(folder, "bootstrap.json"), join(dataDir, "bootstrap.json"));
    await restoreBlobs(folder, dataDir, manifest, verify, report);
    await syncFolders(dataDir);
    await marked(path, undefined);
    return manifest;
  } finally {
    lock.release();
  }
}

/** Sets or removes the marker; afterwards the file is complete without a write-ahead log. */
async function marked(path: string, source: string | undefined): Promise<void> {
  const { db, raw } = openWriter(path);
  try {
    raw.exec("begin immediate");
    await (source === undefined ? removeMarker(db) : writeMarker(db, { source, table: "", offset: 0 }));
    raw.exec("commit; pragma wal_checkpoint(truncate);");
  } finally {
    await db.destroy();
  }
  for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

async function restoreBlobs(
  folder: string,
  dataDir: string,
  { blobs }: BackupManifest,
  verify: boolean,
  report: Report,
): Promise<void> {
  let done = 0;
  await inDatabase(databasePath(dataDir), async (db) => {
    for await (const blob of blobRows(db)) {
      const [from, to] = [blobFile(folder, blob), blobFile(dataDir, blob)];
      if (!(await linkOrCopy(from, to))) throw new StoreError(`${from} is missing in the backup`);
      const [algorithm = "", hex = ""] = blob.digest.split(":");
      const whole = statSync(to).size === blob.size && (!verify || (await hashOf(to, algorithm)) === hex);
      if (!whole)
        throw new StoreError(`${from} is not what was backed up: its ${verify ? "digest or size" : "size"} differs`);
      done += blob.size;
      report.progress({ step: "blobs", done, total: blobs.bytes, unit: "bytes" });
    }
  });
}
