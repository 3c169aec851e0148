import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { lstat, mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Code, invalidArgument, MoorageError, notFound } from "../errors.ts";
import { copyHash, emptyHash, hashFile } from "./digesting.ts";
import type { HashState } from "./digesting.ts";
import { readTo, writeFrom } from "./transfer.ts";
import { lockHolder, removeLocks, takeLock } from "./upload-lock.ts";
import type { Appended, AppendOptions, BlobStore, ByteSource, DigestAlgorithm, StoredBlob } from "./index.ts";
import { errorCode } from "../lib/error-code.ts";

// <root>
// ├── blobs
// │   ├── sha256
// │   │   └── 9f                          first two characters of the hex
// │   │       └── 9f86d0….1c2d3e4f5a6b7c8d   <hex>.<generation>, never changed once it exists
// │   └── sha512
// │       └── …
// └── uploads
//     ├── 0a1b2c…                         one growing file per upload, named by its id
//     └── 0a1b2c….lock                    held by a request that works on it: see upload-lock.ts

const UPLOAD_ID = /^[0-9a-f]{32}$/;
const LEFT_LOCK = /^([0-9a-f]{32})\.(?:lock|takeover)$/;
const GENERATION = /^[0-9a-f]{16}$/;
const DIGEST = /^(sha256|sha512):([0-9a-f]{64,128})$/;
const BLOB_FILE = /^([0-9a-f]{64,128})\.([0-9a-f]{16})$/;
// Hash states of uploads that no request is writing to. A dropped state is computed again from the file.
const MAX_IDLE_HASHES = 1000;

/**
 * Blobs as files below the root, which must be on one file system. Missing folders are created. Several processes of
 * one machine may share the root.
 */
export async function openFilesystemBlobs(root: string): Promise<BlobStore> {
  const uploads = join(root, "uploads");
  for (const folder of [uploads, join(root, "blobs", "sha256"), join(root, "blobs", "sha512")])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const folder of [join(root, "blobs"), root]) await syncFolder(folder);

  // Uploads that a request of this process is working on: checked before the lock in the file system.
  const busy = new Set<string>();
  const hashes = new Map<string, HashState>();

  function uploadPath(id: string): string {
    if (!UPLOAD_ID.test(id)) throw notFound("Upload", id);
    return join(uploads, id);
  }

  function blobPath(digest: string, generation: string): { folder: string; path: string } {
    const [, algorithm, hex] = DIGEST.exec(digest) ?? [];
    if (!algorithm || !hex || !GENERATION.test(generation)) throw notFound("Blob", digest);
    const folder = join(root, "blobs", algorithm, hex.slice(0, 2));
    return { folder, path: join(folder, `${hex}.${generation}`) };
  }

  function remember(id: string, state: HashState): void {
    hashes.delete(id);
    hashes.set(id, state);
    for (const oldest of hashes.keys()) {
      if (hashes.size <= MAX_IDLE_HASHES) break;
      hashes.delete(oldest);
    }
  }

  async function exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    const inUse = (): MoorageError => new MoorageError(Code.Aborted, "Another request is working on this upload");
    const path = uploadPath(id);
    if (busy.has(id)) throw inUse();
    busy.add(id);
    try {
      const { size } = await stat(path);
      const lock = await takeLock(path, size);
      if (lock === undefined) throw inUse();
      try {
        return await work();
      } finally {
        await lock.release();
      }
    } catch (error) {
      throw translated(error, "Upload", id);
    } finally {
      busy.delete(id);
    }
  }

  async function append(
    id: string,
    offset: number | undefined,
    source: ByteSource,
    options: AppendOptions,
  ): Promise<Appended> {
    await using file = await open(uploadPath(id), "r+");
    const { size } = await file.stat();
    if (offset !== undefined && offset !== size) return { accepted: false, size };
    const known = hashes.get(id);
    const usable = known?.bytes === size ? copyHash(known) : undefined;
    const state =
      usable ??
      (size === 0
        ? emptyHash(options.algorithm ?? "sha256")
        : await hashFile(file, size, options.algorithm ?? "sha256"));
    const limit = options.length ?? Number.MAX_SAFE_INTEGER;
    try {
      const written = await writeFrom(file, size, source, state, { limit, freeChunks: options.givesChunks === true });
      const wrongLength =
        written.overflow || (!written.sourceError && options.length !== undefined && written.bytes < options.length);
      if (wrongLength) throw invalidArgument({ field: "length", description: "is not the number of bytes that came" });
      if (written.sourceError && options.keepPartial === false) throw written.sourceError.thrown;
      await file.datasync();
      remember(id, state);
      if (written.sourceError) throw new KeptPartial(written.sourceError.thrown);
      return { accepted: true, size: size + written.bytes };
    } catch (error) {
      if (error instanceof KeptPartial) throw error.cause;
      // Back to the size before the append: a full disk has space again, and the client can repeat its request.
      await file.truncate(size);
      throw error;
    }
  }

  async function finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    const generation = randomBytes(8).toString("hex");
    const { folder, path } = blobPath(expectedDigest, generation);
    const algorithm: DigestAlgorithm = expectedDigest.startsWith("sha512:") ? "sha512" : "sha256";
    const upload = uploadPath(id);
    await using file = await open(upload, "r+");
    const { size } = await file.stat();
    const known = hashes.get(id);
    const state =
      known?.bytes === size && known.algorithm === algorithm ? copyHash(known) : await hashFile(file, size, algorithm);
    const digest = `${algorithm}:${state.hash.digest("hex")}`;
    hashes.delete(id);
    if (digest !== expectedDigest) {
      await rm(upload, { force: true });
      throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
    }
    await file.sync();
    const made = await mkdir(folder, { recursive: true });
    await rename(upload, path);
    await syncFolder(folder);
    if (made !== undefined) await syncFolder(join(folder, ".."));
    return { digest, size, generation };
  }

  return {
    async startUpload(id) {
      try {
        const file = await open(uploadPath(id), "wx");
        await file.close();
      } catch (error) {
        throw translated(error, "Upload", id);
      }
    },
    async uploadSize(id) {
      try {
        const { size } = await stat(uploadPath(id));
        // During an append the file is longer than what is synced.
        return (await lockHolder(uploadPath(id)))?.syncedBytes ?? size;
      } catch (error) {
        throw translated(error, "Upload", id);
      }
    },
    append: (id, offset, source, options = {}) => exclusively(id, () => append(id, offset, source, options)),
    finish: (id, expectedDigest) => exclusively(id, () => finish(id, expectedDigest)),
    async readWhole(digest, generation) {
      try {
        return readSmallFile(blobPath(digest, generation).path);
      } catch (error) {
        throw translated(error, "Blob", digest);
      }
    },
    async read(digest, generation, range, sink) {
      try {
        await using file = await open(blobPath(digest, generation).path, "r");
        await readTo(file, range, sink);
      } catch (error) {
        throw translated(error, "Blob", digest);
      }
    },
    async remove(digest, generation) {
      await rm(blobPath(digest, generation).path, { force: true });
    },
    async removeUpload(id) {
      hashes.delete(id);
      await rm(uploadPath(id), { force: true });
      await removeLocks(uploadPath(id));
    },
    async *listUploads() {
      const modifiedMs = async (name: string): Promise<number | undefined> =>
        (await lstat(join(uploads, name)).catch(() => undefined))?.mtimeMs;
      for await (const { name } of await opendir(uploads)) {
        // If a process ended between two steps, the lock may be all that is left of an upload.
        const [, left] = LEFT_LOCK.exec(name) ?? [];
        if (!UPLOAD_ID.test(name) && (left === undefined || (await modifiedMs(left)) !== undefined)) continue;
        const foundMs = await modifiedMs(name);
        if (foundMs !== undefined) yield { id: left ?? name, modifiedMs: foundMs };
      }
    },
    async *listBlobs() {
      for (const algorithm of ["sha256", "sha512"]) {
        for await (const shard of await opendir(join(root, "blobs", algorithm))) {
          const folder = join(root, "blobs", algorithm, shard.name);
          for await (const entry of await opendir(folder)) {
            const [, hex, generation] = BLOB_FILE.exec(entry.name) ?? [];
            const found = hex && generation ? await stat(join(folder, entry.name)).catch(() => undefined) : undefined;
            // The change time includes the renaming, which may be long after the last byte.
            if (hex && generation && found)
              yield { digest: `${algorithm}:${hex}`, generation, size: found.size, modifiedMs: found.ctimeMs };
          }
        }
      }
    },
  };
}

/** Wraps an error of the source when the bytes written so far stay, so that the roll-back is skipped. */
class KeptPartial extends Error {
  constructor(cause: unknown) {
    super("source failed", { cause });
  }
}

/** Makes new and removed names in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

// Small files are read synchronously: four times the throughput of an asynchronous read, and each blocks the thread for
// microseconds only.
function readSmallFile(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(fstatSync(fd).size);
    let filled = 0;
    while (filled < buffer.length) {
      const count = readSync(fd, buffer, filled, buffer.length - filled, filled);
      if (count === 0) throw new Error("blob file is shorter than its size");
      filled += count;
    }
    return buffer;
  } finally {
    closeSync(fd);
  }
}

function translated(error: unknown, type: string, name: string): unknown {
  const code = errorCode(error);
  if (code === "ENOENT") return notFound(type, name);
  if (code === "EEXIST") return new MoorageError(Code.AlreadyExists, "Upload exists already");
  if (code === "ENOSPC" || code === "EDQUOT")
    return new MoorageError(Code.ResourceExhausted, "Storage is full", { cause: error, retryAfterMs: 60_000 });
  return error;
}
