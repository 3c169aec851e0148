import { closeSync, open as openFile, write } from "node:fs";
import { open, rm } from "node:fs/promises";
import { promisify } from "node:util";
import type { ByteSource, StoredBlob, StoreOptions } from "./blob-store.ts";
import type { WithFilesystemErrors } from "./filesystem-errors.ts";
import type { FilesystemLayout } from "./filesystem-layout.ts";
import { inFolder, type RequireSpace, syncFile, type Target, targetOf } from "./filesystem-targets.ts";
import { algorithmOf, emptyHash } from "./hash-state.ts";
import { rejectionOf, writeFrom } from "./transfer.ts";
import { startOf } from "./whole.ts";
import { requireDigest } from "./verify.ts";

// Descriptors in place of FileHandles, each of which costs as much as a write.
const openNew = promisify(openFile);
const writeAt = promisify(write);

/** Writes blobs that come whole to files, as in `BlobStore`: each once, at its place, under a name that is new. */
export class FilesystemWholes {
  readonly #layout: FilesystemLayout;
  readonly #requireSpace: RequireSpace;
  readonly #withErrors: WithFilesystemErrors;

  constructor(layout: FilesystemLayout, requireSpace: RequireSpace, withErrors: WithFilesystemErrors) {
    this.#layout = layout;
    this.#requireSpace = requireSpace;
    this.#withErrors = withErrors;
  }

  async storeWhole(content: Buffer, digest: string): Promise<StoredBlob> {
    const target = targetOf(this.#layout, digest);
    return this.#withErrors("Blob", digest, async () => {
      this.#requireSpace(content.length);
      await writeContent(target, content);
      return { digest, size: content.length, generation: target.generation };
    });
  }

  async store(source: ByteSource, digest: string, options: StoreOptions = {}): Promise<StoredBlob> {
    const target = targetOf(this.#layout, digest);
    return this.#withErrors("Blob", digest, async () => {
      this.#requireSpace(options.length);
      const { content, rest } = await startOf(source, options);
      if (rest === undefined) {
        requireDigest(content, digest);
        await writeContent(target, content);
        return { digest, size: content.length, generation: target.generation };
      }
      const size = await writeStream(target, rest, options);
      return { digest, size, generation: target.generation };
    });
  }
}

async function writeContent({ folder, path }: Target, content: Buffer): Promise<void> {
  const file = await inFolder(folder, () => openNew(path, "wx"));
  try {
    for (let at = 0; at < content.length;) {
      const { bytesWritten } = await writeAt(file, content, at, content.length - at, at);
      at += bytesWritten;
    }
    await syncFile(file, folder);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    // What has been synced is closed without a wait.
    closeSync(file);
  }
}

/** Answers the size. */
async function writeStream({ digest, folder, path }: Target, source: ByteSource, options: StoreOptions) {
  const hash = emptyHash(algorithmOf(digest));
  await using file = await inFolder(folder, () => open(path, "wx"));
  try {
    const limit = options.length ?? Number.MAX_SAFE_INTEGER;
    const written = await writeFrom(file, 0, source, hash, { limit, freeChunks: options.givesChunks === true });
    const rejection = rejectionOf(written, { ...options, keepPartial: false });
    if (rejection) throw rejection.thrown;
    requireDigest(hash.hash, digest);
    await syncFile(file.fd, folder);
    return written.bytes;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
