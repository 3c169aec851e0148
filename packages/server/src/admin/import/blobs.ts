import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import type { BlobStore } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Store, StoreError } from "@moorage/kernel/store";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import type { BlobRow } from "../blob-files.ts";
import { importTable, type TableImport } from "./tables.ts";
import { blobPath } from "../export/manifest.ts";
import { insertRows } from "./insert-rows.ts";
import { type PlainRow } from "../tables.ts";

const BLOB_CONCURRENCY = 4;
// An interrupted run may have stored at most one batch of blobs without rows.
const BATCH_ROWS = 64;
const MAX_LEFT = 10_000;

/** The generations, by digest, of content that has no row yet because the import that stored it was interrupted. */
export async function leftOverBlobs(store: Store, blobs: BlobStore): Promise<Map<string, string>> {
  const left = new Map<string, string>();
  for await (const { digest, generation } of blobs.listBlobs()) {
    const known = await store.reader
      .selectFrom("blobs")
      .select("digest")
      .where("digest", "=", digest)
      .where("generation", "=", generation)
      .executeTakeFirst();
    if (known === undefined && left.size < MAX_LEFT) left.set(digest, generation);
  }
  return left;
}

/** Removes the uploads of an interrupted run. No other process uploads to this store yet. */
export async function removeUploads(blobs: BlobStore): Promise<void> {
  for await (const { id } of blobs.listUploads()) await blobs.removeUpload(id);
}

export interface BlobsImport extends Omit<TableImport, "insert" | "prepare"> {
  blobs: BlobStore;
  left: Map<string, string>;
}

/**
 * Stores the content, then inserts the rows. Throws a StoreError when the export's content is missing or does not match
 * its digest.
 */
export async function importBlobs({ blobs, left, ...rest }: BlobsImport): Promise<void> {
  const { store, folder, manifest, report, table } = rest;
  const there = await store.reader
    .selectFrom("blobs")
    .select((eb) => eb.fn.sum<number | null>("size").as("bytes"))
    .executeTakeFirst();
  let done = there?.bytes ?? 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    report.progress({ step: "blobs", done, total: manifest.blobs.bytes, unit: "bytes" });
  };
  const stored = async (row: BlobRow): Promise<string> => {
    const generation = left.get(row.digest);
    if (generation === undefined) return upload(blobs, blobPath(folder, row.digest), row, onBytes);
    onBytes(row.size);
    return generation;
  };
  const prepare = async (rows: PlainRow[]): Promise<PlainRow[]> => {
    const inserted = new Map<string, PlainRow>();
    await forEachConcurrently(rows, BLOB_CONCURRENCY, async (row) => {
      const blob = { digest: String(row["digest"]), generation: "", size: Number(row["size"]) };
      inserted.set(blob.digest, { ...row, generation: await stored(blob) });
    });
    return [...inserted.values()];
  };
  await importTable({ ...rest, batchRows: BATCH_ROWS, prepare, insert: (tx, rows) => insertRows(tx, table, rows) });
}

async function upload(
  blobs: BlobStore,
  path: string,
  { digest, size }: BlobRow,
  onBytes: (bytes: number) => void,
): Promise<string> {
  await using file = await open(path, "r").catch((cause: unknown) => {
    throw new StoreError(`${path} is missing in the export`, { cause });
  });
  const id = randomBytes(16).toString("hex");
  await blobs.startUpload(id);
  try {
    const algorithm = digest.startsWith("sha512:") ? "sha512" : "sha256";
    await blobs.append(id, 0, counted(file.createReadStream({ highWaterMark: 1 << 18, autoClose: false }), onBytes), {
      algorithm,
      length: size,
      keepPartial: false,
    });
    return (await blobs.finish(id, digest)).generation;
  } catch (error) {
    await blobs.removeUpload(id).catch(() => {});
    if (error instanceof MoorageError && error.code === Code.InvalidArgument)
      throw new StoreError(`${path} is not what was exported: its digest differs`, { cause: error });
    throw error;
  }
}

async function* counted(source: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}
