import { lstat, opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FilesystemLayout } from "./filesystem-layout.ts";
import type { ListedBlob, ListedUpload } from "./blob-store.ts";
import { isUploadId } from "./names.ts";

const LEFT_LOCK = /^([0-9a-f]{32})\.(?:lock|takeover)$/;
const BLOB_FILE = /^([0-9a-f]{64,128})\.([0-9a-f]{16})$/;

/** All uploads; also those of which only a lock is left, because a process ended between two steps. */
export async function* listUploads({ uploads }: FilesystemLayout): AsyncGenerator<ListedUpload> {
  const modifiedMs = async (name: string): Promise<number | undefined> =>
    (await lstat(join(uploads, name)).catch(() => undefined))?.mtimeMs;
  for await (const { name } of await opendir(uploads)) {
    const [, left] = LEFT_LOCK.exec(name) ?? [];
    if (!isUploadId(name) && (left === undefined || (await modifiedMs(left)) !== undefined)) continue;
    const foundMs = await modifiedMs(name);
    if (foundMs !== undefined) yield { id: left ?? name, modifiedMs: foundMs };
  }
}

/** All blobs. Files with other names, and those removed meanwhile, are left out. */
export async function* listBlobs(layout: FilesystemLayout): AsyncGenerator<ListedBlob> {
  for (const algorithm of ["sha256", "sha512"] as const) {
    const blobs = layout.blobs(algorithm);
    for await (const shard of await opendir(blobs)) {
      const folder = join(blobs, shard.name);
      for await (const entry of await opendir(folder)) {
        const [, hex, generation] = BLOB_FILE.exec(entry.name) ?? [];
        const found = hex && generation ? await stat(join(folder, entry.name)).catch(() => undefined) : undefined;
        // The change time includes the renaming, which may be long after the last byte.
        if (hex && generation && found)
          yield { digest: `${algorithm}:${hex}`, generation, size: found.size, modifiedMs: found.ctimeMs };
      }
    }
  }
}
