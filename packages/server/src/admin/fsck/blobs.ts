import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { probeFolder } from "@moorage/kernel/lib/probe-folder";
import type { BlobStore } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { correctBlobSize, forgetBlob } from "@moorage/registry/oci";
import type { Store } from "@moorage/kernel/store";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import { makeTempFolder } from "@moorage/kernel/lib/temp-folders";
import { type BlobRow, readBlob } from "../blob-files.ts";
import type { Report } from "../progress.ts";
import { rowsOf } from "../tables.ts";

export type BlobFault = "blob-without-content" | "blob-size-wrong" | "blob-damaged" | "content-without-blob";

/**
 * A blob with a fault, and its generation. `contentSize` is the size of the stored content, undefined when the store
 * does not list it.
 */
export interface WrongBlob extends BlobRow {
  fault: BlobFault;
  contentSize?: number | undefined;
}

export interface BlobCheck {
  store: Store;
  blobs: BlobStore;
  /**
   * Content without a row is a fault only when it is older than this, in milliseconds since 1970: younger content may
   * belong to a push under way.
   */
  olderThanMs: number;
  /** Hash all content. */
  deep: boolean;
  report: Report;
}

const BLOB_CONCURRENCY = 4;

interface Listed {
  size: number;
  modified: number;
}

/**
 * Compares the rows of `blobs` with the contents of the store, in both directions. The server may run: differences are
 * checked again, because they may have arisen since the store was listed. The list is in a temporary file.
 */
export async function* wrongBlobs(check: BlobCheck): AsyncGenerator<WrongBlob> {
  const { store, blobs, report } = check;
  const listing = openListing();
  try {
    let count = 0;
    for await (const { digest, generation, size, modifiedMs } of blobs.listBlobs()) {
      listing.add(digest, generation, size, Math.floor(modifiedMs));
      count += 1;
      report.progress({ step: "listing blobs", done: count, total: count, unit: "blobs" });
    }
    let done = 0;
    // Each batch reads the current state: hashing may take hours, and no transaction stays open meanwhile.
    for await (const batch of rowsOf(store.reader, "blobs")) {
      const wrong: WrongBlob[] = [];
      await forEachConcurrently(batch, BLOB_CONCURRENCY, async (row) => {
        const listed = listing.take(row.digest, row.generation);
        const fault = await faultOf(check, row, listed);
        if (fault !== undefined && (await isNamed(store, row)))
          wrong.push({ ...row, fault, contentSize: listed?.size });
        done += 1;
        report.progress({
          step: check.deep ? "hashing blobs" : "comparing blobs",
          done,
          total: Math.max(done, count),
          unit: "blobs",
        });
      });
      yield* wrong.sort((a, b) => (a.digest < b.digest ? -1 : 1));
    }
    for (const { digest, generation, size } of listing.rest(check.olderThanMs)) {
      if (await isNamed(store, { digest, generation })) continue;
      // If the row and then the content were removed after the list was made, it is no fault.
      if (await contentExists(blobs, { digest, generation, size }))
        yield { digest, generation, size, fault: "content-without-blob" };
    }
  } finally {
    await listing.close();
  }
}

async function faultOf(
  { blobs, deep }: BlobCheck,
  row: BlobRow,
  listed: Listed | undefined,
): Promise<BlobFault | undefined> {
  // The blob may have been stored after the list was made.
  if (listed === undefined) return (await contentOf(blobs, row)) === "missing" ? "blob-without-content" : undefined;
  if (listed.size !== row.size) return "blob-size-wrong";
  return deep && (await contentOf(blobs, row)) !== "right" ? "blob-damaged" : undefined;
}

/** Reads and hashes the content; `row.size` is how much is read. */
async function contentOf(blobs: BlobStore, row: BlobRow): Promise<"right" | "wrong" | "missing"> {
  const [algorithm = "", hex = ""] = row.digest.split(":");
  if (algorithm !== "sha256" && algorithm !== "sha512") return "wrong";
  const hash = createHash(algorithm);
  try {
    await readBlob(blobs, row, async (chunk) => void hash.update(chunk));
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.NotFound) return "missing";
    if (error instanceof MoorageError && error.code === Code.DataLoss) return "wrong";
    // A store that cannot be reached says nothing about the blob.
    if (error instanceof MoorageError) throw error;
    return "wrong";
  }
  return hash.digest("hex") === hex ? "right" : "wrong";
}

async function isNamed(
  { reader }: Store,
  { digest, generation }: Pick<BlobRow, "digest" | "generation">,
): Promise<boolean> {
  return (
    (await reader
      .selectFrom("blobs")
      .select("digest")
      .where("digest", "=", digest)
      .where("generation", "=", generation)
      .executeTakeFirst()) !== undefined
  );
}

/** Whether the content exists; reads at most one byte of a large one. */
async function contentExists(blobs: BlobStore, { digest, generation, size }: BlobRow): Promise<boolean> {
  try {
    if (size === 0) await blobs.readWhole(digest, generation);
    else await blobs.read(digest, generation, { start: 0, end: 0 }, async () => {});
    return true;
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.NotFound) return false;
    // It is there, and is not what its digest says: a crash came before its first byte.
    if (error instanceof MoorageError && error.code === Code.DataLoss) return true;
    throw error;
  }
}

/**
 * Repairs a blob. Content without a row is removed; a wrong size is corrected if the content matches its digest;
 * otherwise the rows are removed, so that the next push uploads the content again, and then the content.
 */
export async function repairBlob(store: Store, blobs: BlobStore, wrong: WrongBlob): Promise<void> {
  const { digest, generation, fault, contentSize } = wrong;
  if (fault === "content-without-blob") {
    if (!(await isNamed(store, wrong))) await blobs.remove(digest, generation);
    return;
  }
  if (
    fault === "blob-size-wrong" &&
    contentSize !== undefined &&
    (await contentOf(blobs, { digest, generation, size: contentSize })) === "right"
  ) {
    await store.transact((tx) => correctBlobSize(tx, digest, generation, contentSize));
    return;
  }
  const removed = await store.transact((tx) => forgetBlob(tx, digest, generation));
  if (removed) await blobs.remove(digest, generation);
}

// A list of millions of blobs is stored on disk, not in memory.
function openListing() {
  // SQLite would say only that the file cannot be opened.
  probeFolder(tmpdir());
  const folder = makeTempFolder("fsck");
  const database = new DatabaseSync(join(folder.path, "blobs.db"));
  const close = async (): Promise<void> => {
    database.close();
    await folder.remove();
  };
  try {
    database.exec(
      "pragma journal_mode = off; pragma synchronous = off; create table listed (digest text, generation text, size integer, modified integer, primary key (digest, generation)) without rowid; begin",
    );
  } catch (error) {
    void close();
    throw error;
  }
  const insert = database.prepare("insert or replace into listed values (?, ?, ?, ?)");
  const select = database.prepare("select size, modified from listed where digest = ? and generation = ?");
  const forget = database.prepare("delete from listed where digest = ? and generation = ?");
  return {
    add(digest: string, generation: string, size: number, modified: number): void {
      insert.run(digest, generation, size, modified);
    },
    /** The listed content, which is removed from the list. */
    take(digest: string, generation: string): Listed | undefined {
      const found = select.get(digest, generation) as unknown as Listed | undefined;
      if (found !== undefined) forget.run(digest, generation);
      return found;
    },
    /** The content that is left in the list and older than `olderThanMs`. */
    *rest(olderThanMs: number): Generator<BlobRow> {
      for (const row of database
        .prepare("select digest, generation, size from listed where modified < ? order by digest, generation")
        .iterate(olderThanMs))
        yield row as unknown as BlobRow;
    },
    close,
  };
}
