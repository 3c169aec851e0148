import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@moorage/kernel/store";

// A backup:
//
//   <folder>/backup.json      what the backup contains; written last, when it is complete
//   <folder>/moorage.db       a consistent copy of the database
//   <folder>/secret.key       if the data folder has one
//   <folder>/bootstrap.json   as in the data folder
//   <folder>/blobs/           as in the data folder

export interface BackupManifest {
  format: number;
  /** RFC 3339. */
  time: string;
  schemaVersion: number;
  /** SHA-256 of `moorage.db` in hex. */
  database: string;
  blobs: { count: number; bytes: number };
}

export const BACKUP_FORMAT = 1;

/** Throws a StoreError when the folder has no complete backup. */
export function readBackup(folder: string): BackupManifest {
  let text: string;
  try {
    text = readFileSync(join(folder, "backup.json"), "utf8");
  } catch (cause) {
    throw new StoreError(`there is no whole backup in ${folder}: it has no backup.json`, { cause });
  }
  try {
    const manifest = JSON.parse(text) as BackupManifest;
    if (manifest.format === BACKUP_FORMAT) return manifest;
  } catch (cause) {
    throw new StoreError(`${join(folder, "backup.json")} is damaged`, { cause });
  }
  throw new StoreError(`${join(folder, "backup.json")} is of another format than this moorage reads`);
}

export function writeBackup(folder: string, manifest: BackupManifest): void {
  const path = join(folder, "backup.json");
  writeFileSync(`${path}.new`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
