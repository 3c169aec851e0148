import { Readable } from "node:stream";
import { fromRandomAccessReaderPromise, RandomAccessReader, type Entry, type ZipFile } from "yauzl";
import { normalizedName } from "./names.ts";

/** Reads the bytes of a stored file from one offset up to, and without, another. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** Metadata files are some kilobytes; a description of a megabyte is the largest seen. */
const MAX_METADATA_BYTES = 8 * 1024 * 1024;
/** A wheel has a few thousand files at most. */
const MAX_ENTRIES = 200_000;
const METADATA = /^([^/]+)-[^-/]+\.dist-info\/METADATA$/;

/** Why a file is no wheel of the project, for people. */
export class WheelError extends Error {}

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

/**
 * The METADATA file of a wheel, byte for byte. `project`: normalized. Throws a WheelError when the file is no archive,
 * or has no metadata of this project. Source: PyPA, "binary distribution format".
 */
export async function wheelMetadata(readRange: ReadRange, sizeBytes: number, project: string): Promise<Buffer> {
  let zip: ZipFile;
  try {
    zip = await fromRandomAccessReaderPromise(new StoredFile(readRange, sizeBytes), sizeBytes, {
      validateEntrySizes: true,
    });
  } catch (cause) {
    throw new WheelError("the file is not a zip archive, as a wheel must be", { cause });
  }
  if (zip.entryCount > MAX_ENTRIES) throw new WheelError(`the wheel has more than ${MAX_ENTRIES} files`);
  for await (const entry of entriesOf(zip)) {
    const [, name] = METADATA.exec(entry.fileName) ?? [];
    if (name === undefined || normalizedName(name) !== project) continue;
    if (entry.uncompressedSize > MAX_METADATA_BYTES)
      throw new WheelError(`its METADATA has more than ${MAX_METADATA_BYTES} bytes`);
    return await contentOf(zip, entry);
  }
  throw new WheelError(`the wheel has no ${project}-….dist-info/METADATA`);
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (cause) {
    throw new WheelError("the wheel's list of files is damaged", { cause });
  }
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      size += (chunk as Buffer).length;
      if (size > MAX_METADATA_BYTES) break;
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    throw new WheelError("its METADATA cannot be unpacked", { cause });
  }
  if (size > MAX_METADATA_BYTES) throw new WheelError(`its METADATA has more than ${MAX_METADATA_BYTES} bytes`);
  return Buffer.concat(chunks);
}
