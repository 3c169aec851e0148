import { readFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeTempFolder, type TempFolder } from "@moorage/kernel/lib/temp-folders";

/** The bytes of a document as a task gets them: many of them are in a file, for they would be copied several times. */
export type HandedBytes = Uint8Array | { path: string };

/** Bytes that are handed over, until `release` is called. */
export interface HandedOver {
  bytes: HandedBytes;
  release(): Promise<void>;
}

/** So many bytes are copied to another process in some milliseconds. */
const MAX_COPIED_BYTES = 2 * 1024 * 1024;

/** Hands bytes over to tasks, in temporary files. */
interface HandOver {
  /** The bytes of these pieces, in their order. */
  of(pieces: readonly Uint8Array[]): Promise<HandedOver>;
  /** Removes all files. */
  close(): Promise<void>;
}

export function createHandOver(): HandOver {
  let folder: TempFolder | undefined;
  let count = 0;
  return {
    async of(pieces) {
      const size = pieces.reduce((sum, { length }) => sum + length, 0);
      if (size <= MAX_COPIED_BYTES) return { bytes: Buffer.concat(pieces, size), release: () => Promise.resolve() };
      folder ??= makeTempFolder("libraries");
      const path = join(folder.path, `document-${(count += 1)}`);
      const release = (): Promise<void> => rm(path, { force: true });
      try {
        await using file = await open(path, "wx", 0o600);
        await file.writev([...pieces]);
      } catch (error) {
        await release();
        throw error;
      }
      return { bytes: { path }, release };
    },
    close: async () => await folder?.remove(),
  };
}

/** The bytes, in a task. */
export function bytesIn(handed: HandedBytes): Buffer {
  if ("path" in handed) return readFileSync(handed.path);
  return Buffer.from(handed.buffer, handed.byteOffset, handed.length);
}
