import type { Readable } from "node:stream";

export type DigestAlgorithm = "sha256" | "sha512";

/** The first and the last byte of the range, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Bytes in the order of arrival; iterating over the body of an HTTP request gives such a source. */
export type ByteSource = AsyncIterable<Uint8Array> | ReturnType<Readable["iterator"]>;

export interface AppendOptions {
  /**
   * The algorithm to hash with during the append; a guess, since the client sends the digest only at the end. Defaults
   * to sha256.
   */
  algorithm?: DigestAlgorithm;
  /**
   * The exact number of bytes expected. With more or fewer, the append fails with INVALID_ARGUMENT on `length`, and the
   * upload is as before.
   */
  length?: number;
  /**
   * Whether the bytes that arrived before an error of the source stay. If false, the upload is set back to its size
   * before. Defaults to true.
   */
  keepPartial?: boolean;
  /**
   * Whether the source never uses its chunks again, so that their memory may be freed once they are written. Defaults
   * to false.
   */
  givesChunks?: boolean;
  /**
   * The digest of the whole upload, when these are its last bytes: then it becomes a blob, as `finish` does, and
   * `keepPartial` is false. Defaults to undefined.
   */
  finishAs?: string | undefined;
}

/** As in AppendOptions. */
export type StoreOptions = Pick<AppendOptions, "length" | "givesChunks">;

/**
 * The result of an append. Not accepted: the offset was not the end of the upload, and nothing was read. `size` is the
 * size of the upload. `blob`: what it became, with `finishAs`.
 */
export interface Appended {
  accepted: boolean;
  size: number;
  blob?: StoredBlob;
}

export interface StoredBlob {
  digest: string;
  size: number;
  generation: string;
}

/** An object of an S3 bucket, which may be any that can be read. */
export interface ContentObject {
  /** The S3 server's address; undefined for AWS. */
  endpoint: string | undefined;
  bucket: string;
  key: string;
  /** Throws NOT_FOUND when it is missing, and INVALID_ARGUMENT on `file` when it cannot be read. */
  stat(): Promise<{ size: number; etag: string }>;
  /** So many bytes of the object with that ETag. Throws as `stat`, also when it was replaced. */
  bytes(found: { size: number; etag: string }): AsyncGenerator<Buffer>;
}

/** Where content is that is to become a blob: the path of a file of this machine, or an object. */
export type ContentPlace = string | ContentObject;

/** A blob that was a file or an object: it has one inode with it now, shares its blocks, or is a copy. */
export interface AdoptedBlob extends StoredBlob {
  how: "link" | "clone" | "copy";
}

/** An upload, and the time of its last bytes in milliseconds since 1970. */
export interface ListedUpload {
  id: string;
  modifiedMs: number;
}

/** A blob, its size in bytes, and when it was finished, in milliseconds since 1970. */
export interface ListedBlob extends StoredBlob {
  modifiedMs: number;
}

/** What is wrong with the stored content of a blob: not there, of another size, or with other bytes. */
export type ContentFault = "missing" | "wrong_size" | "damaged";

/**
 * Receives the bytes of a blob. The chunk's memory is reused once the promise resolves. A rejected promise ends the
 * reading.
 */
export type ByteSink = (chunk: Buffer) => Promise<void>;

/**
 * Content-addressed storage of bytes, without knowledge of repositories and rights. Memory use does not grow with the
 * size of a blob. Unknown uploads and blobs are NOT_FOUND; a full disk is RESOURCE_EXHAUSTED and leaves the data as it
 * was; a store that cannot be reached is UNAVAILABLE; content that is not what its digest says is DATA_LOSS.
 *
 * Any process that opened the same storage may continue an upload. The tests in suite.ts define what every engine must
 * do.
 */
export interface BlobStore {
  /** Rejects with RESOURCE_EXHAUSTED when nothing has a place any more. Absent where the store does not know. */
  requireSpace?(): Promise<void>;
  /** Creates an empty upload. The id is 32 hex characters. */
  startUpload(id: string): Promise<void>;
  /** The number of bytes of an upload, without those that are being added. */
  uploadSize(id: string): Promise<number>;
  /**
   * Adds the source's bytes at the offset (defaults to the end). They survive the end of the process; that they survive
   * a power failure is sure from `finish` on. Only one append at a time: a concurrent one is ABORTED. When the source
   * fails, its error is thrown after the bytes that arrived were kept or removed, by `keepPartial`.
   */
  append(id: string, offset: number | undefined, source: ByteSource, options?: AppendOptions): Promise<Appended>;
  /**
   * Turns the upload into a blob with the digest and a new generation, durably: it survives a power failure. A digest
   * that does not match the content is INVALID_ARGUMENT on `digest`, and the upload is removed.
   */
  finish(id: string, expectedDigest: string): Promise<StoredBlob>;
  /**
   * Stores a whole blob from memory, of at most SMALL_BLOB_BYTES, durably, under a new generation. The digest is that
   * of the content: the caller has computed it. Nothing stays when it fails, except after a crash a blob without a
   * record.
   */
  storeWhole(content: Buffer, digest: string): Promise<StoredBlob>;
  /**
   * Stores all bytes of the source as a blob with the digest, durably, under a new generation. A digest that does not
   * match them is INVALID_ARGUMENT on `digest`. Nothing stays when it fails, except after a crash a blob without a
   * record, of which a part may be missing.
   */
  store(source: ByteSource, digest: string, options?: StoreOptions): Promise<StoredBlob>;
  /**
   * Makes a blob of a file of this machine, or of an object, with so many bytes, durably, under a new generation. A
   * file by a hard link where that can be, else by shared blocks, else by a copy; an object of the store's own server
   * by a copy within that server where it lets us, else by one through this process. What is there is only read, also
   * later. INVALID_ARGUMENT on `file` when it is no file, cannot be read, has another size or changes meanwhile, on
   * `digest` when its content has another one; NOT_FOUND for an object that is missing. Nothing stays then.
   */
  adopt(place: ContentPlace, blob: { digest: string; size: number }): Promise<AdoptedBlob>;
  /**
   * The size of the stored content; undefined when it is missing. Files are looked at each time; S3 is asked at most
   * once in half a minute, unless `fresh`.
   */
  contentSize(digest: string, generation: string, options?: { fresh?: boolean }): Promise<number | undefined>;
  /** Reads a whole small blob, of at most SMALL_BLOB_BYTES, and verifies its digest. */
  readWhole(digest: string, generation: string): Promise<Buffer>;
  /**
   * Sends all bytes of the blob in order, the last of them only after the digest was verified: a sink that got all
   * `size` bytes got the right ones.
   */
  readAll(blob: StoredBlob, sink: ByteSink): Promise<void>;
  /**
   * Sends the bytes of the range in order. The range must lie within the blob. A part cannot be verified by the digest
   * of the whole.
   */
  read(digest: string, generation: string, range: ByteRange, sink: ByteSink): Promise<void>;
  /**
   * A URL from which any client may GET the blob, or ranges of it, for that long, without this server. Absent when the
   * engine has no such URLs.
   */
  redirectUrl?(digest: string, generation: string, ttlMs: number): Promise<string>;
  /** Where the file of the blob is below the folder of all blobs. Absent when the engine has no files. */
  filePath?(digest: string, generation: string): string;
  /** Removes one generation of a blob. Does nothing when it is missing. */
  remove(digest: string, generation: string): Promise<void>;
  /** Removes an upload. Does nothing when it is missing. */
  removeUpload(id: string): Promise<void>;
  /**
   * Notes what was found of stored content: it is logged, counted and remembered, so that the next push of the same
   * content replaces it. `replaced`: that has just happened; `right`: it was read and verified after all. Absent where
   * nobody listens. Never rejects.
   */
  noted?(blob: Omit<StoredBlob, "size">, what: ContentFault | "replaced" | "right"): Promise<void>;
  /** Stores something small and removes it again. Rejects with the fault when the store takes nothing. */
  probe?(): Promise<void>;
  listUploads(): AsyncIterable<ListedUpload>;
  /** Finds blobs without a record. */
  listBlobs(): AsyncIterable<ListedBlob>;
}

/** A blob of at most this size is read whole rather than streamed. */
export const SMALL_BLOB_BYTES = 64 * 1024;
