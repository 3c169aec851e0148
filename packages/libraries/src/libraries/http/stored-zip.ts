import { Readable } from "node:stream";
import { fromRandomAccessReaderPromise, RandomAccessReader, type Entry, type ZipFile } from "yauzl";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { ReadRange } from "./ranges.ts";

/** Wheels and jars have some thousand files; a jar with all that it needs has tens of thousands. */
const MAX_ENTRIES = 200_000;

/** Why what was looked for cannot be read from a file, for people. */
export class ZipError extends Error {}

/** The archive's list of files is read in many small steps: bytes come in pieces of this size. */
const PIECE_BYTES = 256 * 1024;
const MAX_PIECES = 8;

class StoredFile extends RandomAccessReader {
  readonly #readRange: ReadRange;
  readonly #sizeBytes: number;
  readonly #pieces = new Map<number, Promise<Uint8Array>>();

  constructor(readRange: ReadRange, sizeBytes: number) {
    super();
    this.#readRange = readRange;
    this.#sizeBytes = sizeBytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#bytes(start, end), { objectMode: false });
  }

  /** The list of files is two reads for each of them: streams, as the library has them, would take most of the time. */
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    const copied = async (): Promise<number> => {
      let done = 0;
      for await (const bytes of this.#bytes(position, position + length)) {
        buffer.set(bytes, offset + done);
        done += bytes.length;
      }
      return done;
    };
    // What the callback throws is not to be taken for a failed read.
    copied().then(
      (bytesRead) => process.nextTick(callback, null, bytesRead),
      (error: Error) => process.nextTick(callback, error),
    );
  }

  async *#bytes(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const piece = Math.floor(at / PIECE_BYTES);
      const offset = piece * PIECE_BYTES;
      const bytes = (await this.#piece(piece)).subarray(at - offset, end - offset);
      if (bytes.length === 0) return;
      yield bytes;
      at += bytes.length;
    }
  }

  #piece(piece: number): Promise<Uint8Array> {
    const known = this.#pieces.get(piece);
    if (known !== undefined) return known;
    const [first] = this.#pieces.keys();
    if (first !== undefined && this.#pieces.size >= MAX_PIECES) this.#pieces.delete(first);
    const start = piece * PIECE_BYTES;
    const bytes = this.#readRange(start, Math.min(start + PIECE_BYTES, this.#sizeBytes));
    this.#pieces.set(piece, bytes);
    return bytes;
  }
}

/** What is read from an archive. */
interface WantedEntry {
  /** Whether this is the entry, by its name. */
  isWanted: (name: string) => boolean;
  /** The most bytes that it may have, unpacked. */
  maxBytes: number;
}

/**
 * The content of the first entry that is wanted; undefined when the archive has none. Throws a ZipError when the file
 * is no archive, is damaged, has more entries than a package has, or when the entry is too large.
 */
export async function entryOf(
  readRange: ReadRange,
  sizeBytes: number,
  { isWanted, maxBytes }: WantedEntry,
): Promise<Buffer | undefined> {
  let zip: ZipFile;
  try {
    zip = await fromRandomAccessReaderPromise(new StoredFile(readRange, sizeBytes), sizeBytes, {
      validateEntrySizes: true,
    });
  } catch (cause) {
    throw new ZipError("the file is not a zip archive", { cause });
  }
  if (zip.entryCount > MAX_ENTRIES) throw new ZipError(`the file has more than ${MAX_ENTRIES} files in it`);
  const turn = createTurns();
  for await (const entry of entriesOf(zip)) {
    await turn();
    if (!isWanted(entry.fileName)) continue;
    if (entry.uncompressedSize > maxBytes) throw tooLarge(entry, maxBytes);
    return await contentOf(zip, entry, maxBytes);
  }
  return undefined;
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (cause) {
    throw new ZipError("its list of files is damaged", { cause });
  }
}

async function contentOf(zip: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      size += (chunk as Buffer).length;
      if (size > maxBytes) break;
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    throw new ZipError(`its ${entry.fileName} cannot be unpacked`, { cause });
  }
  if (size > maxBytes) throw tooLarge(entry, maxBytes);
  return Buffer.concat(chunks);
}

function tooLarge({ fileName }: Entry, maxBytes: number): ZipError {
  return new ZipError(`its ${fileName} has more than ${maxBytes} bytes`);
}
