import { createHash, randomBytes } from "node:crypto";
import { Code, invalidArgument, MoorageError, notFound } from "../errors.ts";
import { storageFault } from "../lib/storage-fault.ts";
import { newGeneration } from "./names.ts";
import { algorithmOf } from "./hash-state.ts";
import type { HashState } from "./hash-state.ts";
import type { Appended, AppendOptions, ByteSource, StoredBlob, StoreOptions } from "./blob-store.ts";
import { assemble } from "./s3-assemble.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { aborted, isConflict, SourceFailed, withS3Errors } from "./s3-errors.ts";
import { SegmentHashes } from "./s3-hashes.ts";
import type { S3Keys, UploadKeys } from "./s3-keys.ts";
import type { Segment } from "./s3-parts.ts";
import { BlockSums } from "./s3-sums.ts";
import { writeSegments } from "./s3-writer.ts";
import { rejectionOf } from "./transfer.ts";

// Every append lists the whole upload, and an object is assembled from at most 10,000 parts.
const MAX_SEGMENTS = 8000;
const REMOVAL_CONCURRENCY = 8;

/** Sizes of requests; see `S3Options`. */
export interface TransferSizes {
  partBytes: number;
  maxParts?: number | undefined;
  copyBytes?: number | undefined;
}

interface Upload {
  segments: Segment[];
  size: number;
}

/**
 * The uploads of a store in S3, as in `BlobStore`. All state of an upload is in the bucket, so any process can continue
 * it. When two processes append at the same offset, the first to finish writes its segment and the other fails with a
 * conflict.
 */
export class S3Uploads {
  readonly #bucket: S3Bucket;
  readonly #keys: S3Keys;
  readonly #sizes: TransferSizes;
  /** Uploads that a request of this process is working on. */
  readonly #busy = new Set<string>();
  readonly #hashes = new SegmentHashes();

  constructor(bucket: S3Bucket, keys: S3Keys, sizes: TransferSizes) {
    this.#bucket = bucket;
    this.#keys = keys;
    this.#sizes = sizes;
  }

  async start(id: string): Promise<void> {
    await withS3Errors("Upload", id, async () => {
      try {
        await this.#bucket.put(this.#keys.upload(id).start, Buffer.alloc(0), { fresh: true });
      } catch (error) {
        throw isConflict(error) ? new MoorageError(Code.AlreadyExists, "Upload exists already") : error;
      }
    });
  }

  size(id: string): Promise<number> {
    return withS3Errors("Upload", id, async () => (await this.#find(id)).size);
  }

  append(id: string, offset: number | undefined, source: ByteSource, options: AppendOptions = {}): Promise<Appended> {
    const { finishAs } = options;
    return this.#exclusively(id, async () => {
      if (finishAs === undefined) return this.#append(id, offset, source, options);
      const appended = await this.#append(id, offset, source, { ...options, keepPartial: false });
      return appended.accepted ? { ...appended, blob: await this.#finish(id, finishAs) } : appended;
    });
  }

  /** Stores a blob that comes whole, by an upload of its own. */
  async store(source: ByteSource, digest: string, options: StoreOptions): Promise<StoredBlob> {
    const id = randomBytes(16).toString("hex");
    await this.start(id);
    try {
      const { blob } = await this.append(id, 0, source, {
        ...options,
        algorithm: algorithmOf(digest),
        finishAs: digest,
      });
      if (blob === undefined) throw new Error("the upload did not become a blob");
      return blob;
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  /**
   * Has the S3 server copy an object that it has in any bucket, by an upload of its own, and checks what came:
   * INVALID_ARGUMENT on `digest` when it has another one. Throws errors of the SDK.
   */
  async copy(
    { bucket: from, key, etag }: { bucket: string; key: string; etag: string },
    { digest, size }: { digest: string; size: number },
  ): Promise<StoredBlob> {
    const id = randomBytes(16).toString("hex");
    const blob = { digest, size, generation: newGeneration() };
    const target = this.#keys.blob(digest, blob.generation);
    await this.start(id);
    try {
      await assemble(this.#bucket, [{ key, etag, offset: 0, size }], target, {
        from,
        copyBytes: this.#sizes.copyBytes,
        announce: async () => void (await this.#bucket.put(this.#keys.upload(id).into(blob), Buffer.alloc(0))),
      });
      await this.#requireDigest(target, blob);
      return blob;
    } catch (error) {
      await this.#bucket.remove(target).catch(() => undefined);
      throw error;
    } finally {
      await this.#remove(id).catch(() => undefined);
    }
  }

  /** Reads an object again when it is wrong: its bytes may be spoiled on their way. */
  async #requireDigest(key: string, { digest, size }: { digest: string; size: number }): Promise<void> {
    const isRight = async (): Promise<boolean> => {
      const hash = createHash(algorithmOf(digest));
      for await (const chunk of this.#bucket.get({ key, start: 0, end: size - 1 })) hash.update(chunk);
      return `${algorithmOf(digest)}:${hash.digest("hex")}` === digest;
    };
    if ((await isRight()) || (await isRight())) return;
    throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
  }

  finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    return this.#exclusively(id, () => this.#finish(id, expectedDigest));
  }

  remove(id: string): Promise<void> {
    return withS3Errors("Upload", id, () => this.#remove(id));
  }

  /** Works on an upload; ABORTED while another request of this process does. */
  #exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    return withS3Errors("Upload", id, async () => {
      if (this.#busy.has(id)) throw aborted();
      this.#busy.add(id);
      try {
        return await work();
      } finally {
        this.#busy.delete(id);
      }
    });
  }

  /** The upload as it is in the bucket: the segments that follow one another from its beginning. */
  async #find(id: string): Promise<Upload> {
    const keys = this.#keys.upload(id);
    const upload: Upload = { segments: [], size: 0 };
    let started = false;
    for await (const { key, size, etag } of this.#bucket.list(keys.folder)) {
      if (key === keys.start) started = true;
      if (keys.offsetOf(key) !== upload.size) continue;
      upload.segments.push({ key, offset: upload.size, size, etag });
      upload.size += size;
    }
    if (!started) throw notFound("Upload", id);
    return upload;
  }

  async #append(id: string, offset: number | undefined, source: ByteSource, options: AppendOptions): Promise<Appended> {
    const { size, segments } = await this.#find(id);
    if (offset !== undefined && offset !== size) return { accepted: false, size };
    if (segments.length >= MAX_SEGMENTS)
      throw new MoorageError(Code.ResourceExhausted, "The upload came in too many chunks");
    const known = this.#hashOfAll(id, segments, options);
    const hash = known?.state;
    const keys = this.#keys.upload(id);
    const received = await writeSegments(this.#bucket, source, {
      offset: size,
      keyOf: (at) => keys.segment(at),
      hash,
      limit: options.length ?? Number.MAX_SAFE_INTEGER,
      freeChunks: options.givesChunks === true,
      partBytes: this.#sizes.partBytes,
      maxParts: this.#sizes.maxParts,
    });
    const rejection = rejectionOf(received, options);
    if (rejection) {
      await received.drop();
      throw rejection.thrown;
    }
    const added = await received.keep();
    if (known) this.#hashes.remember(id, known.state, [...known.summed, ...added]);
    if (received.sourceError) throw new SourceFailed(received.sourceError.thrown);
    return { accepted: true, size: size + received.bytes };
  }

  /** The hash over all segments. Undefined when another process received some: then `finish` reads and hashes them. */
  #hashOfAll(
    id: string,
    segments: Segment[],
    options: AppendOptions,
  ): { state: HashState; summed: Segment[] } | undefined {
    const algorithm = this.#hashes.algorithmOf(id) ?? options.algorithm ?? "sha256";
    const { state, summed, rest } = this.#hashes.resume(id, segments, algorithm);
    return rest.length === 0 ? { state, summed } : undefined;
  }

  async #finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    const generation = newGeneration();
    const key = this.#keys.blob(expectedDigest, generation);
    const { segments, size } = await this.#find(id);
    const summed = await this.#verified(id, segments, expectedDigest);
    this.#hashes.forget(id);
    if (summed === undefined) {
      await this.#remove(id);
      throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
    }
    const digest = expectedDigest;
    const keys = this.#keys.upload(id);
    const into = keys.into({ digest, generation });
    let announced = false;
    await assemble(this.#bucket, summed, key, {
      copyBytes: this.#sizes.copyBytes,
      announce: async () => {
        announced = true;
        await this.#bucket.put(into, Buffer.alloc(0));
      },
    });
    // The blob exists now; if removing the upload fails, what remains is removed with the abandoned uploads.
    const left = [keys.start, ...segments.map((segment) => segment.key), ...(announced ? [into] : [])];
    await removeAll(this.#bucket, left).catch(() => undefined);
    return { digest, size, generation };
  }

  /**
   * The segments with their sums, when they have the digest together; undefined when they have not. What is read back
   * for that may be spoiled on its way: it counts as wrong only when it is read twice alike. Throws UNAVAILABLE when it
   * is read differently each time.
   */
  async #verified(id: string, segments: Segment[], expectedDigest: string): Promise<Segment[] | undefined> {
    const first = await this.#hashed(id, segments, expectedDigest);
    if (first.digest === expectedDigest) return first.summed;
    if (first.isReceived) return undefined;
    const second = await this.#hashed(id, segments, expectedDigest);
    if (second.digest === expectedDigest) return second.summed;
    if (second.digest === first.digest) return undefined;
    const error = new Error("an upload was read back differently each time");
    throw storageFault({ part: "blobs", reason: "io_error" }, error);
  }

  /**
   * The digest of the segments, in the algorithm of the expected one, and their sums. Reads those after the known hash
   * state; `isReceived` when there are none.
   */
  async #hashed(
    id: string,
    segments: Segment[],
    expectedDigest: string,
  ): Promise<{ digest: string; summed: Segment[]; isReceived: boolean }> {
    const algorithm = algorithmOf(expectedDigest);
    const { state, summed, rest } = this.#hashes.resume(id, segments, algorithm);
    const read: Segment[] = [];
    for (const segment of rest) {
      const sums = new BlockSums();
      for await (const chunk of this.#bucket.get({ ...segment, start: 0, end: segment.size - 1 })) {
        state.hash.update(chunk);
        sums.update(chunk);
      }
      read.push({ ...segment, sums: sums.end() });
    }
    const digest = `${algorithm}:${state.hash.digest("hex")}`;
    return { digest, summed: [...summed, ...read], isReceived: rest.length === 0 };
  }

  async #remove(id: string): Promise<void> {
    const upload = this.#keys.upload(id);
    this.#hashes.forget(id);
    // Without `start` the upload does not exist, even if the rest cannot be removed.
    await this.#bucket.remove(upload.start);
    const keys: string[] = [];
    for await (const { key } of this.#bucket.list(upload.folder)) keys.push(key);
    await this.#abortMultiparts(upload, keys);
    await removeAll(this.#bucket, keys);
  }

  /** Aborts the multipart uploads of an upload: those of the blobs that it was being assembled into, and its own. */
  async #abortMultiparts(upload: UploadKeys, keys: string[]): Promise<void> {
    for (const key of keys) {
      const blob = upload.intoOf(key);
      if (blob) await abortAll(this.#bucket, this.#keys.blob(blob.digest, blob.generation));
    }
    await abortAll(this.#bucket, upload.folder);
  }
}

async function removeAll(bucket: S3Bucket, keys: string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += REMOVAL_CONCURRENCY)
    await Promise.all(keys.slice(at, at + REMOVAL_CONCURRENCY).map((key) => bucket.remove(key)));
}

async function abortAll(bucket: S3Bucket, keyPrefix: string): Promise<void> {
  for await (const { key, uploadId } of bucket.listMultiparts(keyPrefix)) await bucket.abortMultipart(key, uploadId);
}
