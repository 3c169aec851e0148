import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@moorage/kernel/store";

// An export:
//
//   <folder>/export.json                 what the export contains, and whether it is complete
//   <folder>/secret.key                  the key that opens the sealed secrets, if it is in the source's data folder
//   <folder>/tables/<table>.jsonl        one row per line, in the order of the primary key
//   <folder>/blobs/sha256/9f/<hex>       content

export const FORMAT = 1;

export interface ExportManifest {
  format: number;
  /** Identifies this state of the source: each run has another id. */
  id: string;
  complete: boolean;
  /** RFC 3339. */
  time: string;
  schemaVersion: number;
  /** The uid of the source's first identity, which identifies the installation. */
  installation: string;
  /** Where the key that opens the sealed secrets is: in a `file` of the export, or in the `settings` of the source. */
  secretKey: "file" | "settings";
  tables: Record<string, { rows: number; bytes: number; sha256: string }>;
  blobs: { count: number; bytes: number };
}

function manifestPath(folder: string): string {
  return join(folder, "export.json");
}

export function tablePath(folder: string, table: string): string {
  return join(folder, "tables", `${table}.jsonl`);
}

/** The path of a blob in an export. */
export function blobPath(folder: string, digest: string): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  if (!/^sha(?:256|512)$/.test(algorithm) || !/^[0-9a-f]{64,128}$/.test(hex))
    throw new StoreError(`${digest} is not the digest of a blob`);
  return join(folder, "blobs", algorithm, hex.slice(0, 2), hex);
}

/** Undefined when there is none. Throws a StoreError for one that this program cannot read. */
export function readManifest(folder: string): ExportManifest | undefined {
  let text: string;
  try {
    text = readFileSync(manifestPath(folder), "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR"))
      return undefined;
    throw new StoreError(`cannot read ${manifestPath(folder)}`, { cause });
  }
  try {
    const manifest = JSON.parse(text) as ExportManifest;
    if (manifest.format === FORMAT) return manifest;
  } catch (cause) {
    throw new StoreError(`${manifestPath(folder)} is damaged`, { cause });
  }
  throw new StoreError(`${manifestPath(folder)} is of another format than this moorage reads`);
}

export function writeManifest(folder: string, manifest: ExportManifest): void {
  const path = manifestPath(folder);
  writeFileSync(`${path}.new`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
