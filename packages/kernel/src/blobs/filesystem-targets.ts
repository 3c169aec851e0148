import { fdatasync, statfsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DiskReserve } from "../lib/disk-reserve.ts";
import { errorCode } from "../lib/error-code.ts";
import { storageFault } from "../lib/storage-fault.ts";
import { type FilesystemLayout, syncFolder } from "./filesystem-layout.ts";
import { newGeneration } from "./names.ts";

/** Where a blob will be. */
export interface Target {
  digest: string;
  generation: string;
  folder: string;
  path: string;
}

/** Where a blob will be, under a new generation. NOT_FOUND when the digest is none. */
export function targetOf(layout: FilesystemLayout, digest: string): Target {
  const generation = newGeneration();
  return { digest, generation, ...layout.blob(digest, generation) };
}

/**
 * Throws where so many bytes have no place, before any of them is read. What is left of a disk that was full is kept
 * for others than uploads.
 */
export type RequireSpace = (bytes?: number) => void;

export function spaceIn(layout: FilesystemLayout, reserve: Pick<DiskReserve, "isFull">): RequireSpace {
  return (bytes = 0) => {
    if (reserve.isFull()) throw noSpace("the disk was full");
    const { bavail, bsize } = statfsSync(layout.uploads);
    if (bavail === 0) throw noSpace("the disk is full");
    if (bavail * bsize < bytes)
      throw storageFault(
        { part: "blobs", reason: "scarce" },
        new Error(`${bytes} bytes were to be stored, ${bavail * bsize} are free`),
      );
  };
}

function noSpace(message: string): Error {
  return Object.assign(new Error(message), { code: "ENOSPC" });
}

/**
 * Does something in the folder, which is created if needed. The folders above it are not: where they are missing, their
 * file system is.
 */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  return await work().catch(async (error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
    await mkdir(folder).then(
      () => syncFolder(join(folder, "..")),
      (failed: unknown) => {
        if (errorCode(failed) !== "EEXIST") throw failed;
      },
    );
    return await work();
  });
}

const dataSync = promisify(fdatasync);

/** Syncs a file, by its descriptor, and its name, concurrently: both take one commit of the file system's journal. */
export async function syncFile(file: number, folder: string): Promise<void> {
  const results = await Promise.allSettled([dataSync(file), syncFolder(folder)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
