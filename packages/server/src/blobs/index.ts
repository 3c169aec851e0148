import type { Readable } from "node:stream";

export { openFilesystemBlobs } from "./filesystem.ts";
export { openBlobs } from "./open.ts";
export { BlobsUrlError } from "./s3-url.ts";

export type DigestAlgorithm = "sha256" | "sha512";

/** The first and the last byte wanted, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Bytes as they come; an HTTP request's body iterates like this. */
export type ByteSource = AsyncIterable<Uint8Array> | ReturnType<Readable["iterator"]>;

export interface AppendOptions {
  /**
   * The algorithm to hash with while the bytes pass; a guess, since the digest is named only at the end. Default
   * sha256.
   */
  algorithm?: DigestAlgorithm;
  /** How many bytes must come. More or fewer: INVALID_ARGUMENT on `length`, and the upload is as it was. */
  length?: number;
  /** Whether what came before the source failed stays (default), or the upload is set back to where it was. */
  keepPartial?: boolean;
  /**
   * Whether the source gives its chunks away, and nobody looks at them again: then their memory may be freed the moment
   * they are written. Default false.
   */
  givesChunks?: boolean;
}

/**
 * What an append came to. Not accepted: the offset was not the upload's end, and nothing was read. `size` is the
 * upload's, synced.
 */
export interface Appended {
  accepted: boolean;
  size: number;
}

export interface StoredBlob {
  digest: string;
  size: number;
  generation: string;
}

/** Receives the bytes of a blob. The chunk is reused once the promise resolves. A rejection stops the reading. */
export type ByteSink = (chunk: Buffer) => Promise<void>;

/**
 * Content-addressed bytes. It knows no repositories and no rights. Memory does not grow with a blob's size. Unknown
 * uploads and blobs are NOT_FOUND; a full disk is RESOURCE_EXHAUSTED and leaves what was there before; a store that
 * cannot be reached is UNAVAILABLE. Any process that opened the same storage may go on with an upload. What every
 * engine must pass stands in suite.ts.
 */
export interface BlobStore {
  /** Makes an empty upload. The id is 32 hex characters. */
  startUpload(id: string): Promise<void>;
  /** The synced bytes of an upload. */
  uploadSize(id: string): Promise<number>;
  /**
   * Adds the source's bytes at the offset (absent: at the end) and syncs them. One at a time: a second is ABORTED.
   * When the source fails, its error is thrown after the bytes that came were kept, or taken back as the options say.
   */
  append(id: string, offset: number | undefined, source: ByteSource, options?: AppendOptions): Promise<Appended>;
  /**
   * Turns the upload into a blob under the digest and a new generation, durably: it is there after a power cut.
   * A digest that is not the content's is INVALID_ARGUMENT on `digest`, and the upload is gone.
   */
  finish(id: string, expectedDigest: string): Promise<StoredBlob>;
  /** A whole small blob. Meant for SMALL_BLOB_BYTES at the most. */
  readWhole(digest: string, generation: string): Promise<Buffer>;
  /** Sends the range's bytes in order. The range must lie within the blob. */
  read(digest: string, generation: string, range: ByteRange, sink: ByteSink): Promise<void>;
  /**
   * Where anybody may GET the blob, and parts of it, for that long, without asking this server. Absent: the engine has
   * no such place.
   */
  redirectUrl?(digest: string, generation: string, ttlMs: number): Promise<string>;
  /** Removes one generation of a blob. Missing: nothing happens. */
  remove(digest: string, generation: string): Promise<void>;
  /** Forgets an upload. Missing: nothing happens. */
  removeUpload(id: string): Promise<void>;
  /** All uploads and when bytes last came, in milliseconds since 1970. */
  listUploads(): AsyncIterable<{ id: string; modifiedMs: number }>;
  /**
   * All blobs, their sizes in bytes, and when they were finished, in milliseconds since 1970: for finding those no
   * record points to.
   */
  listBlobs(): AsyncIterable<{ digest: string; generation: string; size: number; modifiedMs: number }>;
}

/** Up to here a blob is better read whole than streamed. */
export const SMALL_BLOB_BYTES = 64 * 1024;
