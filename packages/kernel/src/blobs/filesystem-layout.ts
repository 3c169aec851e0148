import { closeSync, fsync, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DigestAlgorithm } from "./blob-store.ts";
import { blobName, checkedUploadId } from "./names.ts";

// <root>
// ├── blobs
// │   ├── sha256
// │   │   └── 9f                          first two characters of the hex
// │   │       └── 9f86d0….1c2d3e4f5a6b7c8d   <hex>.<generation>, never changed once a record names it
// │   └── sha512
// │       └── …
// └── uploads
//     ├── 0a1b2c…                         one growing file per upload, named by its id
//     └── 0a1b2c….lock                    held by a request that works on it: see upload-lock.ts

/** The paths of a store below its root. */
export interface FilesystemLayout {
  /** The folder of all uploads. */
  uploads: string;
  /** The folder of all blobs of an algorithm. */
  blobs(algorithm: DigestAlgorithm): string;
  /** NOT_FOUND when the id is none. */
  upload(id: string): string;
  /** The file of a blob and its folder, which may not exist yet. NOT_FOUND when digest or generation is none. */
  blob(digest: string, generation: string): { folder: string; path: string };
}

export function filesystemLayout(root: string): FilesystemLayout {
  const uploads = join(root, "uploads");
  return {
    uploads,
    blobs: (algorithm) => join(root, "blobs", algorithm),
    upload: (id) => join(uploads, checkedUploadId(id)),
    blob(digest, generation) {
      const { folder, name } = blobName(digest, generation);
      return { folder: join(root, "blobs", folder), path: join(root, "blobs", folder, name) };
    },
  };
}

/** Creates the folders that every store has, durably. */
export async function createFolders(root: string): Promise<void> {
  const { uploads, blobs } = filesystemLayout(root);
  for (const folder of [uploads, blobs("sha256"), blobs("sha512")])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const folder of [join(root, "blobs"), root]) await syncFolder(folder);
}

const sync = promisify(fsync);

/** Makes new and removed names in a folder durable. Opening one changes nothing on the disk, and so does not wait. */
export async function syncFolder(folder: string): Promise<void> {
  const opened = openSync(folder, "r");
  try {
    await sync(opened);
  } finally {
    closeSync(opened);
  }
}
