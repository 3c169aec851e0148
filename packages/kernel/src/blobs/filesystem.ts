import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { Code, MoorageError } from "../errors.ts";
import { filesystemErrors } from "./filesystem-errors.ts";
import { FilesystemAdoption } from "./filesystem-adoption.ts";
import { createFolders, filesystemLayout } from "./filesystem-layout.ts";
import { listBlobs, listUploads } from "./filesystem-lists.ts";
import { blobName } from "./names.ts";
import { spaceIn } from "./filesystem-targets.ts";
import { FilesystemUploads } from "./filesystem-uploads.ts";
import { FilesystemWholes } from "./filesystem-wholes.ts";
import type { DiskReserve } from "../lib/disk-reserve.ts";
import { probeFolderInBackground } from "../lib/probe-folder.ts";
import { storageFault } from "../lib/storage-fault.ts";
import type { BlobStore } from "./blob-store.ts";
import { readTo } from "./transfer.ts";
import { damaged, verified } from "./verify.ts";

/**
 * Blobs as files below the root, which must be on one file system. Missing folders are created. Several processes of
 * one machine may share the root. While the disk of `reserve` is full, uploads are RESOURCE_EXHAUSTED.
 */
export async function openFilesystemBlobs(
  root: string,
  reserve: Pick<DiskReserve, "isFull"> = { isFull: () => false },
): Promise<BlobStore> {
  await createFolders(root);
  const layout = filesystemLayout(root);
  const withErrors = filesystemErrors(layout);
  const requireSpace = spaceIn(layout, reserve);
  const uploads = new FilesystemUploads(layout, requireSpace, withErrors);
  const wholes = new FilesystemWholes(layout, requireSpace, withErrors);
  const adoption = new FilesystemAdoption(layout, wholes, withErrors);
  return verified({
    requireSpace: () => withErrors("Upload", "", requireSpace),
    startUpload: (id) => uploads.start(id),
    uploadSize: (id) => uploads.size(id),
    append: (id, offset, source, options) => uploads.append(id, offset, source, options),
    finish: (id, expectedDigest) => uploads.finish(id, expectedDigest),
    storeWhole: (content, digest) => wholes.storeWhole(content, digest),
    store: (source, digest, options) => wholes.store(source, digest, options),
    adoptFile: (file, blob) => adoption.adopt(file, blob),
    // Looking at a file takes some microseconds.
    contentSize: (digest, generation) =>
      withErrors("Blob", digest, () => statSync(layout.blob(digest, generation).path).size).catch((error: unknown) => {
        if (error instanceof MoorageError && error.code === Code.NotFound) return undefined;
        throw error;
      }),
    readWhole: (digest, generation) =>
      withErrors("Blob", digest, () => readSmallFile(layout.blob(digest, generation).path)),
    read: (digest, generation, range, sink) =>
      withErrors("Blob", digest, async () => {
        await using file = await open(layout.blob(digest, generation).path, "r");
        if (fstatSync(file.fd).size <= range.end) throw damaged(digest, "is too short");
        await readTo(file, range, sink);
      }),
    filePath(digest, generation) {
      const { folder, name } = blobName(digest, generation);
      return `${folder}/${name}`;
    },
    remove: (digest, generation) =>
      withErrors("Blob", digest, () => rm(layout.blob(digest, generation).path, { force: true })),
    removeUpload: (id) => uploads.remove(id),
    probe: () =>
      withErrors("Upload", "probe", async () => {
        if (reserve.isFull()) throw storageFault({ part: "blobs", reason: "full" }, new Error("the disk was full"));
        await probeFolderInBackground(layout.uploads);
      }),
    listUploads: () => listUploads(layout),
    listBlobs: () => listBlobs(layout),
  });
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
