import { createReadStream, type Dirent } from "node:fs";
import { open, opendir, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { openPromise } from "yauzl";
import { SourceError, SourceTooLarge, UnreadableRecord } from "../records/record.ts";

/** One file of a source. */
export interface Part {
  /** Its name in the archive or the folder. */
  name: string;
  /** The source is this file alone. */
  isWhole: boolean;
  /** The bytes. Throws a SourceError when the source cannot be read, an UnreadableRecord when this part cannot. */
  bytes(): AsyncGenerator<Buffer>;
}

/** The most files of a source, and the most bytes that it unpacks to. */
export interface SourceLimits {
  maxParts: number;
  maxBytes: number;
}

export const SOURCE_LIMITS: SourceLimits = { maxParts: 2_000_000, maxBytes: 64 * 2 ** 30 };
const MAX_FOLDER_DEPTH = 16;

/**
 * The files of a source one by one: of a zip archive, of a folder, or the one file that it is, unpacked if it is gzip.
 * Memory is bounded whatever the source has. Throws a SourceError when it cannot be read.
 */
export async function* partsOf(source: string, limits = SOURCE_LIMITS): AsyncGenerator<Part> {
  let left = limits.maxBytes;
  const counted = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      left -= chunk.length;
      if (left < 0) throw new SourceTooLarge(`${path.basename(source)} unpacks to more than ${limits.maxBytes} bytes`);
      yield chunk;
    }
  };
  let parts = 0;
  const kind = await kindOf(source);
  const found = kind === "folder" ? filesOf(source) : kind === "zip" ? entriesOf(source) : [wholeOf(source, kind)];
  for await (const { name, isWhole, bytes } of found) {
    parts += 1;
    if (parts > limits.maxParts)
      throw new SourceTooLarge(`${path.basename(source)} has more than ${limits.maxParts} files`);
    yield { name, isWhole, bytes: () => counted(bytes()) };
  }
}

/** What a source is by its first bytes. Throws a SourceError when it cannot be opened. */
export async function kindOf(source: string): Promise<"folder" | "zip" | "gzip" | "plain"> {
  try {
    if ((await stat(source)).isDirectory()) return "folder";
    await using file = await open(source);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const magic = buffer.subarray(0, bytesRead).toString("hex");
    return magic === "504b0304" || magic === "504b0506" ? "zip" : magic.startsWith("1f8b") ? "gzip" : "plain";
  } catch (error) {
    throw new SourceError(`${source} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}

function wholeOf(source: string, kind: "gzip" | "plain"): Part {
  const name = path.basename(source);
  return {
    name,
    isWhole: true,
    async *bytes() {
      const file = createReadStream(source, { highWaterMark: 1 << 18 });
      const stream = kind === "gzip" ? file.pipe(createGunzip()) : file;
      file.on("error", (error) => stream.destroy(error));
      try {
        yield* stream as AsyncIterable<Buffer>;
      } catch (error) {
        throw new SourceError(`${name} cannot be read: ${messageOf(error)}`, { cause: error });
      } finally {
        file.destroy();
        stream.destroy();
      }
    },
  };
}

/** The files of a folder and of those in it, in the order of their names in each. */
async function* filesOf(folder: string, below = "", depth = 0): AsyncGenerator<Part> {
  if (depth > MAX_FOLDER_DEPTH) throw new SourceError(`${below} is nested deeper than ${MAX_FOLDER_DEPTH} folders`);
  const entries: Dirent[] = [];
  for await (const entry of await opendir(path.join(folder, below))) entries.push(entry);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const name = path.posix.join(below, entry.name);
    // Links are not followed: they may lead out of the folder, or round in a circle.
    if (entry.isDirectory()) yield* filesOf(folder, name, depth + 1);
    else if (entry.isFile()) yield { ...wholeOf(path.join(folder, name), "plain"), name, isWhole: false };
  }
}

async function* entriesOf(source: string): AsyncGenerator<Part> {
  const fail = (error: unknown): never => {
    throw new SourceError(`${path.basename(source)} is not a zip archive that can be read: ${messageOf(error)}`, {
      cause: error,
    });
  };
  const zip = await openPromise(source, { lazyEntries: true, autoClose: false, validateEntrySizes: true }).catch(fail);
  try {
    const entries = zip.eachEntry();
    for (;;) {
      const { value: entry, done } = await entries.next().catch(fail);
      if (done) return;
      if (entry.fileName.endsWith("/")) continue;
      yield {
        name: entry.fileName,
        isWhole: false,
        async *bytes() {
          let stream: Readable | undefined;
          try {
            stream = await zip.openReadStreamPromise(entry);
            yield* stream as AsyncIterable<Buffer>;
          } catch (error) {
            throw new UnreadableRecord(`the entry cannot be unpacked: ${messageOf(error)}`, { cause: error });
          } finally {
            stream?.destroy();
          }
        },
      };
    }
  } finally {
    zip.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
