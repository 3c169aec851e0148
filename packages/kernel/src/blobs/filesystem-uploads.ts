import { fstatSync, statSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { Code, invalidArgument, MoorageError } from "../errors.ts";
import { createLru } from "../lib/lru.ts";
import { algorithmOf, copyHash, hashFile, MAX_IDLE_HASHES } from "./hash-state.ts";
import type { HashState } from "./hash-state.ts";
import type { WithFilesystemErrors } from "./filesystem-errors.ts";
import type { FilesystemLayout } from "./filesystem-layout.ts";
import { inFolder, type RequireSpace, syncFile, type Target, targetOf } from "./filesystem-targets.ts";
import type { Appended, AppendOptions, ByteSource, DigestAlgorithm, StoredBlob } from "./blob-store.ts";
import { rejectionOf, writeFrom } from "./transfer.ts";
import type { Written } from "./transfer.ts";
import { lockHolder, removeLocks, takeLock } from "./upload-lock.ts";

// A chunk of this size is synced when it is written, so that the end of a large upload does not wait for all of it.
const SYNC_EARLY_BYTES = 1024 * 1024;

/** The uploads of a store in files, as in `BlobStore`. */
export class FilesystemUploads {
  readonly #layout: FilesystemLayout;
  readonly #requireSpace: RequireSpace;
  readonly #withErrors: WithFilesystemErrors;
  /** Uploads that a request of this process is working on: checked before the lock in the file system. */
  readonly #busy = new Set<string>();
  /** Hash states of uploads that no request is writing to. A dropped state is computed again from the file. */
  readonly #hashes = createLru<string, HashState>(MAX_IDLE_HASHES);

  constructor(layout: FilesystemLayout, requireSpace: RequireSpace, withErrors: WithFilesystemErrors) {
    this.#layout = layout;
    this.#requireSpace = requireSpace;
    this.#withErrors = withErrors;
  }

  async start(id: string): Promise<void> {
    await this.#withErrors("Upload", id, async () => {
      this.#requireSpace();
      const file = await open(this.#layout.upload(id), "wx");
      await file.close();
    });
  }

  async size(id: string): Promise<number> {
    return this.#withErrors("Upload", id, async () => {
      const path = this.#layout.upload(id);
      const { size } = await stat(path);
      // During an append the file is longer than what counts.
      return (await lockHolder(path))?.bytes ?? size;
    });
  }

  async append(
    id: string,
    offset: number | undefined,
    source: ByteSource,
    options: AppendOptions = {},
  ): Promise<Appended> {
    const { finishAs } = options;
    const target = finishAs === undefined ? undefined : targetOf(this.#layout, finishAs);
    return this.#exclusively(id, async (path) => {
      this.#requireSpace(options.length);
      await using file = await open(path, "r+");
      const { size } = fstatSync(file.fd);
      if (offset !== undefined && offset !== size) return { accepted: false, size };
      const state = this.#known(id, size) ?? (await hashFile(file, size, options.algorithm ?? "sha256"));
      const kept = target === undefined ? options : { ...options, keepPartial: false };
      const { bytes, sourceError } = await write(file, { size, source, state, options: kept });
      this.#hashes.set(id, state);
      if (sourceError) throw sourceError.thrown;
      if (target === undefined) return { accepted: true, size: size + bytes };
      return { accepted: true, size: size + bytes, blob: await this.#finish(id, { file, path, target }) };
    });
  }

  async finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    const target = targetOf(this.#layout, expectedDigest);
    return this.#exclusively(id, async (path) => {
      await using file = await open(path, "r+");
      return await this.#finish(id, { file, path, target });
    });
  }

  async #finish(id: string, { file, path, target }: { file: FileHandle; path: string; target: Target }) {
    const { size } = fstatSync(file.fd);
    const algorithm = algorithmOf(target.digest);
    const state = this.#known(id, size, algorithm) ?? (await hashFile(file, size, algorithm));
    const digest = `${algorithm}:${state.hash.digest("hex")}`;
    if (digest !== target.digest) {
      this.#hashes.delete(id);
      await rm(path, { force: true });
      throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
    }
    await this.#moveDurably(file, path, target);
    this.#hashes.delete(id);
    return { digest, size, generation: target.generation };
  }

  /**
   * Renames a file into its folder, which is created if needed. Content and name survive a power failure from then on;
   * both are synced concurrently, in one commit of the file system's journal. A name without its content is harmless
   * until then: a blob is only read when it has a record.
   */
  async #moveDurably(file: FileHandle, from: string, { folder, path }: Target): Promise<void> {
    await inFolder(folder, () => rename(from, path));
    try {
      await syncFile(file.fd, folder);
    } catch (error) {
      // The upload is as before, so that the client can repeat its request.
      await rename(path, from);
      throw error;
    }
  }

  async remove(id: string): Promise<void> {
    this.#hashes.delete(id);
    const path = this.#layout.upload(id);
    await this.#withErrors("Upload", id, async () => {
      await rm(path, { force: true });
      await removeLocks(path);
    });
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
      return await this.#withErrors("Upload", id, async () => {
        const { size } = statSync(path);
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

/** Writes the source to the end of the file, and syncs much of it early. On an error the file is as before. */
async function write(file: FileHandle, { size, source, state, options }: Append): Promise<Written> {
  const limit = options.length ?? Number.MAX_SAFE_INTEGER;
  try {
    const written = await writeFrom(file, size, source, state, { limit, freeChunks: options.givesChunks === true });
    const rejection = rejectionOf(written, options);
    if (rejection) throw rejection.thrown;
    if (written.bytes >= SYNC_EARLY_BYTES) await file.datasync();
    return written;
  } catch (error) {
    // Back to the size before the append: a full disk has space again, and the client can repeat its request.
    await file.truncate(size);
    throw error;
  }
}
