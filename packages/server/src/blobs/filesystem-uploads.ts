import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Code, invalidArgument, MoorageError } from "../errors.ts";
import type { DiskReserve } from "../lib/disk-reserve.ts";
import { createLru } from "../lib/lru.ts";
import { algorithmOf, copyHash, hashFile, MAX_IDLE_HASHES } from "./digesting.ts";
import type { HashState } from "./digesting.ts";
import { withFilesystemErrors } from "./filesystem-errors.ts";
import { syncFolder } from "./filesystem-layout.ts";
import type { FilesystemLayout } from "./filesystem-layout.ts";
import type { Appended, AppendOptions, ByteSource, DigestAlgorithm, StoredBlob } from "./blob-store.ts";
import { rejectionOf, writeFrom } from "./transfer.ts";
import type { Written } from "./transfer.ts";
import { lockHolder, removeLocks, takeLock } from "./upload-lock.ts";

/** The uploads of a store in files, as in `BlobStore`. */
export class FilesystemUploads {
  readonly #layout: FilesystemLayout;
  readonly #reserve: Pick<DiskReserve, "isFull">;
  /** Uploads that a request of this process is working on: checked before the lock in the file system. */
  readonly #busy = new Set<string>();
  /** Hash states of uploads that no request is writing to. A dropped state is computed again from the file. */
  readonly #hashes = createLru<string, HashState>(MAX_IDLE_HASHES);

  constructor(layout: FilesystemLayout, reserve: Pick<DiskReserve, "isFull">) {
    this.#layout = layout;
    this.#reserve = reserve;
  }

  async start(id: string): Promise<void> {
    await withFilesystemErrors("Upload", id, async () => {
      this.#requireSpace();
      const file = await open(this.#layout.upload(id), "wx");
      await file.close();
    });
  }

  /** What is left of the disk is kept for others than uploads. */
  #requireSpace(): void {
    if (this.#reserve.isFull()) throw Object.assign(new Error("the disk was full"), { code: "ENOSPC" });
  }

  async size(id: string): Promise<number> {
    return withFilesystemErrors("Upload", id, async () => {
      const path = this.#layout.upload(id);
      const { size } = await stat(path);
      // During an append the file is longer than what is synced.
      return (await lockHolder(path))?.syncedBytes ?? size;
    });
  }

  async append(
    id: string,
    offset: number | undefined,
    source: ByteSource,
    options: AppendOptions = {},
  ): Promise<Appended> {
    return this.#exclusively(id, async (path) => {
      this.#requireSpace();
      await using file = await open(path, "r+");
      const { size } = await file.stat();
      if (offset !== undefined && offset !== size) return { accepted: false, size };
      const state = this.#known(id, size) ?? (await hashFile(file, size, options.algorithm ?? "sha256"));
      const { bytes, sourceError } = await writeSynced(file, { size, source, state, options });
      this.#hashes.set(id, state);
      if (sourceError) throw sourceError.thrown;
      return { accepted: true, size: size + bytes };
    });
  }

  async finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    return this.#exclusively(id, async (path) => {
      const generation = randomBytes(8).toString("hex");
      const target = this.#layout.blob(expectedDigest, generation);
      const algorithm = algorithmOf(expectedDigest);
      await using file = await open(path, "r+");
      const { size } = await file.stat();
      const state = this.#known(id, size, algorithm) ?? (await hashFile(file, size, algorithm));
      const digest = `${algorithm}:${state.hash.digest("hex")}`;
      this.#hashes.delete(id);
      if (digest !== expectedDigest) {
        await rm(path, { force: true });
        throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
      }
      await file.sync();
      await moveDurably(path, target);
      return { digest, size, generation };
    });
  }

  async remove(id: string): Promise<void> {
    this.#hashes.delete(id);
    const path = this.#layout.upload(id);
    await rm(path, { force: true });
    await removeLocks(path);
  }

  /** A copy of the hash state over all bytes of the upload. Undefined when there is none, or of another algorithm. */
  #known(id: string, size: number, algorithm?: DigestAlgorithm): HashState | undefined {
    const known = this.#hashes.get(id);
    const isUsable = known?.bytes === size && (algorithm ?? known.algorithm) === known.algorithm;
    return isUsable ? copyHash(known) : undefined;
  }

  /** Works on the file of an upload, which must exist; ABORTED while another request of this machine does. */
  async #exclusively<T>(id: string, work: (path: string) => Promise<T>): Promise<T> {
    const path = this.#layout.upload(id);
    if (this.#busy.has(id)) throw inUse();
    this.#busy.add(id);
    try {
      return await withFilesystemErrors("Upload", id, async () => {
        const { size } = await stat(path);
        const lock = await takeLock(path, size);
        if (lock === undefined) throw inUse();
        try {
          return await work(path);
        } finally {
          await lock.release();
        }
      });
    } finally {
      this.#busy.delete(id);
    }
  }
}

function inUse(): MoorageError {
  return new MoorageError(Code.Aborted, "Another request is working on this upload");
}

interface Append {
  /** The size of the file before. */
  size: number;
  source: ByteSource;
  /** The hash of the bytes before; updated. */
  state: HashState;
  options: AppendOptions;
}

/** Writes the source to the end of the file and syncs it. On an error the file is as before. */
async function writeSynced(file: FileHandle, { size, source, state, options }: Append): Promise<Written> {
  const limit = options.length ?? Number.MAX_SAFE_INTEGER;
  try {
    const written = await writeFrom(file, size, source, state, { limit, freeChunks: options.givesChunks === true });
    const rejection = rejectionOf(written, options);
    if (rejection) throw rejection.thrown;
    await file.datasync();
    return written;
  } catch (error) {
    // Back to the size before the append: a full disk has space again, and the client can repeat its request.
    await file.truncate(size);
    throw error;
  }
}

/** Renames a synced file into the folder, which is created if needed. The new name survives a power failure. */
async function moveDurably(from: string, { folder, path }: { folder: string; path: string }): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  await rename(from, path);
  await syncFolder(folder);
  if (made !== undefined) await syncFolder(join(folder, ".."));
}
