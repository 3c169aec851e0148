import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import type { ReadRange } from "../http/ranges.ts";
import { entryOf, ZipError } from "../http/stored-zip.ts";

const PKG_INFO = /^[^/]+\/PKG-INFO$/;
const MAX_PKG_INFO_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** PKG-INFO is among the first files or the last; of a larger archive the first part is looked through. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/**
 * The PKG-INFO at the top of a source distribution; undefined when it has none, or cannot be read: unlike a wheel, it
 * is built before it is used, and who builds it finds that out. Source: PyPA, "source distribution format".
 */
export async function sdistMetadata(
  readRange: ReadRange,
  sizeBytes: number,
  filename: string,
): Promise<Buffer | undefined> {
  if (!filename.endsWith(".zip")) return await tarEntry(readRange, sizeBytes);
  try {
    return await entryOf(readRange, sizeBytes, {
      isWanted: (name) => PKG_INFO.test(name),
      maxBytes: MAX_PKG_INFO_BYTES,
    });
  } catch (error) {
    if (error instanceof ZipError) return undefined;
    throw error;
  }
}

async function tarEntry(readRange: ReadRange, sizeBytes: number): Promise<Buffer | undefined> {
  const found: Buffer[] = [];
  let [isWhole, isOver] = [false, false];
  const parser = new Parser({
    filter: (path, entry) => PKG_INFO.test(path) && !isWhole && ((entry as ReadEntry).size ?? 0) <= MAX_PKG_INFO_BYTES,
    onReadEntry: (entry) => {
      entry.on("data", (chunk) => void found.push(Buffer.from(chunk)));
      entry.on("end", () => (isWhole = true));
    },
    onwarn: () => {},
  });
  // What follows the end of an archive may be endless, and slow to look through.
  parser.on("eof", () => (isOver = true));
  // Errors of either stream end the loop below, too.
  const unpacked = pipeline(Readable.from(piecesOf(readRange, sizeBytes)), createGunzip(), () => {});
  let unpackedBytes = 0;
  try {
    for await (const chunk of unpacked) {
      unpackedBytes += (chunk as Buffer).length;
      parser.write(chunk as Buffer);
      if (isWhole || isOver || unpackedBytes > MAX_UNPACKED_BYTES) break;
    }
  } catch (error) {
    // Damaged: what was read before may do.
    if ((error as NodeJS.ErrnoException).code?.startsWith("Z_") !== true) throw error;
  }
  return isWhole ? Buffer.concat(found) : undefined;
}

async function* piecesOf(readRange: ReadRange, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sizeBytes; at += PIECE_BYTES) yield await readRange(at, Math.min(at + PIECE_BYTES, sizeBytes));
}
