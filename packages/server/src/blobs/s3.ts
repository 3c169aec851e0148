import { createHash, randomBytes } from "node:crypto";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { Code, invalidArgument, MoorageError, notFound } from "../errors.ts";
import { copyHash, emptyHash } from "./digesting.ts";
import type { HashState } from "./digesting.ts";
import type { Appended, AppendOptions, BlobStore, ByteSource, DigestAlgorithm, StoredBlob } from "./index.ts";
import { assemble } from "./s3-assemble.ts";
import { openBucket } from "./s3-bucket.ts";
import type { NetworkOptions } from "./s3-bucket.ts";
import { isConflict, s3Error, translated } from "./s3-errors.ts";
import type { Segment } from "./s3-parts.ts";
import { BlobsUrlError, parseS3Url } from "./s3-url.ts";
import { writeSegments } from "./s3-writer.ts";
import { sendChunks } from "./transfer.ts";

// <prefix>/
// ├── blobs/sha256/9f/9f86d0….1c2d3e4f5a6b7c8d   <hex>.<generation>, never replaced
// └── uploads/0a1b2c…/                           one upload, by its id
//     ├── start                                  empty: the upload exists
//     ├── 0000000000000000                       the bytes of one append, by their offset in hex
//     ├── 0000000000800000                       the next append, at the offset where that ends
//     └── into-sha256-9f86d0….1c2d3e4f5a6b7c8d   empty: the upload is being assembled into that blob
//
// All state of an upload is in the bucket, so any process can continue it. When two processes append at the same
// offset, the first to finish writes its segment and the other fails with a conflict. Hash states are cached in memory,
// so that segments are not read again; one is only used for segments with the same ETags.

const UPLOAD_ID = /^[0-9a-f]{32}$/;
const UPLOAD_KEY = /^([0-9a-f]{32})\//;
const SEGMENT = /^[0-9a-f]{16}$/;
const INTO = /^into-(sha256|sha512)-([0-9a-f]{64,128})\.([0-9a-f]{16})$/;
const GENERATION = /^[0-9a-f]{16}$/;
const DIGEST = /^(sha256|sha512):([0-9a-f]{64,128})$/;
const BLOB_KEY = /^(sha256|sha512)\/[0-9a-f]{2}\/([0-9a-f]{64,128})\.([0-9a-f]{16})$/;
const MAX_IDLE_HASHES = 1000;
// Every append lists the whole upload, and an object is assembled from at most 10,000 parts.
const MAX_SEGMENTS = 8000;
const REMOVAL_CONCURRENCY = 8;
const PART_BYTES = 8 * 1024 * 1024;

export interface S3Options extends NetworkOptions {
  /**
   * Size of a part of a multipart upload; at most four are in memory for each upload. At least 5 MiB. Defaults to 8
   * MiB.
   */
  partBytes?: number;
  /** The maximum number of parts of a segment. */
  maxParts?: number;
  /** Larger segments become part of a blob by several copies. More than 10 MiB. Defaults to 256 MiB. */
  copyBytes?: number;
}

/** The hash over the first segments of an upload, and the fingerprint of those segments. */
interface KnownHash {
  state: HashState;
  segments: string;
}
interface Upload {
  segments: Segment[];
  size: number;
}

/**
 * Blobs in an S3 bucket, named by a URL in the form of `parseS3Url`; credentials come from the SDK's default chain.
 * Throws a BlobsUrlError when the URL is wrong or the bucket cannot be used.
 */
export async function openS3Blobs(
  url: string,
  { partBytes = PART_BYTES, maxParts, copyBytes, ...network }: S3Options = {},
): Promise<BlobStore> {
  const location = parseS3Url(url);
  const { prefix } = location;
  const bucket = openBucket(location, network);
  const busy = new Set<string>();
  const hashes = new Map<string, KnownHash>();

  function uploadPrefix(id: string): string {
    if (!UPLOAD_ID.test(id)) throw notFound("Upload", id);
    return `${prefix}uploads/${id}/`;
  }

  function blobKey(digest: string, generation: string): string {
    const [, algorithm, hex] = DIGEST.exec(digest) ?? [];
    if (!algorithm || !hex || !GENERATION.test(generation)) throw notFound("Blob", digest);
    return `${prefix}blobs/${algorithm}/${hex.slice(0, 2)}/${hex}.${generation}`;
  }

  function remember(id: string, state: HashState, segments: Segment[]): void {
    hashes.delete(id);
    hashes.set(id, { state, segments: fingerprint(segments) });
    for (const oldest of hashes.keys()) {
      if (hashes.size <= MAX_IDLE_HASHES) break;
      hashes.delete(oldest);
    }
  }

  async function findUpload(id: string): Promise<Upload> {
    const folder = uploadPrefix(id);
    const upload: Upload = { segments: [], size: 0 };
    let started = false;
    for await (const { key, size, etag } of bucket.list(folder)) {
      const name = key.slice(folder.length);
      if (name === "start") started = true;
      if (!SEGMENT.test(name) || Number.parseInt(name, 16) !== upload.size) continue;
      upload.segments.push({ key, offset: upload.size, size, etag });
      upload.size += size;
    }
    if (!started) throw notFound("Upload", id);
    return upload;
  }

  /**
   * The known hash state for the longest possible beginning of the upload, and the segments after it. Without a known
   * state: an empty one and all segments.
   */
  function knownHash(
    id: string,
    { segments }: Upload,
    algorithm: DigestAlgorithm,
  ): { state: HashState; rest: Segment[] } {
    const known = hashes.get(id);
    const count =
      known?.state.algorithm === algorithm
        ? segments.findLastIndex(({ offset, size }) => offset + size === known.state.bytes) + 1
        : 0;
    if (known === undefined || count === 0 || fingerprint(segments.slice(0, count)) !== known.segments)
      return { state: emptyHash(algorithm), rest: segments };
    return { state: copyHash(known.state), rest: segments.slice(count) };
  }

  async function append(
    id: string,
    offset: number | undefined,
    source: ByteSource,
    options: AppendOptions,
  ): Promise<Appended> {
    const upload = await findUpload(id);
    const { size, segments } = upload;
    if (offset !== undefined && offset !== size) return { accepted: false, size };
    if (segments.length >= MAX_SEGMENTS)
      throw new MoorageError(Code.ResourceExhausted, "The upload came in too many chunks");
    const { state, rest } = knownHash(id, upload, hashes.get(id)?.state.algorithm ?? options.algorithm ?? "sha256");
    // When another process received the bytes before, hashing is left to `finish`.
    const hash = rest.length === 0 ? state : undefined;
    const keyOf = (at: number): string => `${uploadPrefix(id)}${at.toString(16).padStart(16, "0")}`;
    const received = await writeSegments(bucket, source, {
      offset: size,
      keyOf,
      hash,
      limit: options.length ?? Number.MAX_SAFE_INTEGER,
      freeChunks: options.givesChunks === true,
      partBytes,
      maxParts,
    });
    const { bytes, overflow, sourceError } = received;
    const wrongLength = overflow || (!sourceError && options.length !== undefined && bytes < options.length);
    if (wrongLength || (sourceError && options.keepPartial === false)) {
      await received.drop();
      throw wrongLength
        ? invalidArgument({ field: "length", description: "is not the number of bytes that came" })
        : sourceError?.thrown;
    }
    const added = await received.keep();
    if (hash) remember(id, hash, [...segments, ...added]);
    if (sourceError) throw new SourceFailed(sourceError.thrown);
    return { accepted: true, size: size + bytes };
  }

  async function finish(id: string, expectedDigest: string): Promise<StoredBlob> {
    const generation = randomBytes(8).toString("hex");
    const key = blobKey(expectedDigest, generation);
    const algorithm: DigestAlgorithm = expectedDigest.startsWith("sha512:") ? "sha512" : "sha256";
    const upload = await findUpload(id);
    const { state, rest } = knownHash(id, upload, algorithm);
    for (const segment of rest)
      for await (const chunk of await bucket.get({ ...segment, start: 0, end: segment.size - 1 }))
        state.hash.update(chunk);
    const digest = `${algorithm}:${state.hash.digest("hex")}`;
    hashes.delete(id);
    if (digest !== expectedDigest) {
      await removeUpload(id);
      throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
    }
    const into = `${uploadPrefix(id)}into-${digest.replace(":", "-")}.${generation}`;
    let announced = false;
    await assemble(bucket, upload.segments, key, {
      copyBytes,
      async announce() {
        announced = true;
        await bucket.put(into, Buffer.alloc(0));
      },
    });
    // The blob exists now; if removing the upload fails, what remains is removed with the abandoned uploads.
    await removeAll([
      `${uploadPrefix(id)}start`,
      ...upload.segments.map((segment) => segment.key),
      ...(announced ? [into] : []),
    ]).catch(() => undefined);
    return { digest, size: upload.size, generation };
  }

  async function removeAll(keys: string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += REMOVAL_CONCURRENCY)
      await Promise.all(keys.slice(at, at + REMOVAL_CONCURRENCY).map((key) => bucket.remove(key)));
  }

  async function abortAll(keyPrefix: string): Promise<void> {
    for await (const { key, uploadId } of bucket.listMultiparts(keyPrefix)) await bucket.abortMultipart(key, uploadId);
  }

  async function removeUpload(id: string): Promise<void> {
    const folder = uploadPrefix(id);
    hashes.delete(id);
    // Without `start` the upload does not exist, even if the rest cannot be removed.
    await bucket.remove(`${folder}start`);
    const keys: string[] = [];
    for await (const { key } of bucket.list(folder)) keys.push(key);
    for (const key of keys) {
      const [, algorithm, hex, generation] = INTO.exec(key.slice(folder.length)) ?? [];
      if (algorithm && hex && generation) await abortAll(blobKey(`${algorithm}:${hex}`, generation));
    }
    await abortAll(folder);
    await removeAll(keys);
  }

  const ofUpload = <T>(id: string, work: () => Promise<T>): Promise<T> => withS3Errors("Upload", id, work);
  const ofBlob = <T>(digest: string, work: () => Promise<T>): Promise<T> => withS3Errors("Blob", digest, work);
  const exclusively = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    ofUpload(id, async () => {
      if (busy.has(id)) throw new MoorageError(Code.Aborted, "Another request is working on this upload");
      busy.add(id);
      try {
        return await work();
      } finally {
        busy.delete(id);
      }
    });

  await checkBucket(() => bucket.list(`${prefix}uploads/`).next());
  return {
    startUpload: (id) =>
      ofUpload(id, async () => {
        try {
          await bucket.put(`${uploadPrefix(id)}start`, Buffer.alloc(0), { fresh: true });
        } catch (error) {
          throw isConflict(error) ? new MoorageError(Code.AlreadyExists, "Upload exists already") : error;
        }
      }),
    uploadSize: (id) => ofUpload(id, async () => (await findUpload(id)).size),
    append: (id, offset, source, options = {}) => exclusively(id, () => append(id, offset, source, options)),
    finish: (id, expectedDigest) => exclusively(id, () => finish(id, expectedDigest)),
    readWhole: (digest, generation) => ofBlob(digest, () => bucket.getWhole(blobKey(digest, generation))),
    read: (digest, generation, range, sink) =>
      ofBlob(digest, async () => {
        const chunks = await bucket.get({ key: blobKey(digest, generation), ...range });
        await sendChunks(chunks, (chunk) =>
          sink(chunk).catch((error: unknown) => {
            throw new SourceFailed(error);
          }),
        );
      }),
    remove: (digest, generation) => ofBlob(digest, () => bucket.remove(blobKey(digest, generation))),
    removeUpload: (id) => ofUpload(id, () => removeUpload(id)),
    redirectUrl: (digest, generation, ttlMs) =>
      ofBlob(digest, () => {
        const command = new GetObjectCommand({ Bucket: bucket.name, Key: blobKey(digest, generation) });
        return getSignedUrl(bucket.client, command, { expiresIn: Math.max(1, Math.floor(ttlMs / 1000)) });
      }),
    listUploads: () =>
      eachWithS3Errors(async function* () {
        const folder = `${prefix}uploads/`;
        const open = new Map<string, number>();
        for await (const multipart of bucket.listMultiparts(folder)) {
          const [, id] = UPLOAD_KEY.exec(multipart.key.slice(folder.length)) ?? [];
          if (id) open.set(id, Math.max(open.get(id) ?? 0, await bucket.lastPartMs(multipart)));
        }
        let current: { id: string; modifiedMs: number } | undefined;
        for await (const { key, modifiedMs } of bucket.list(folder)) {
          const [, id] = UPLOAD_KEY.exec(key.slice(folder.length)) ?? [];
          if (!id) continue;
          if (current && current.id !== id) yield current;
          const before = current?.id === id ? current.modifiedMs : (open.get(id) ?? 0);
          current = { id, modifiedMs: Math.max(before, modifiedMs) };
          open.delete(id);
        }
        if (current) yield current;
        // Uploads of which only multipart uploads are left.
        for (const [id, modifiedMs] of open) yield { id, modifiedMs };
      }),
    listBlobs: () =>
      eachWithS3Errors(async function* () {
        const folder = `${prefix}blobs/`;
        for await (const { key, size, modifiedMs } of bucket.list(folder)) {
          const [, algorithm, hex, generation] = BLOB_KEY.exec(key.slice(folder.length)) ?? [];
          if (algorithm && hex && generation) yield { digest: `${algorithm}:${hex}`, generation, size, modifiedMs };
        }
      }),
  };
}

/** Wraps an error of the source or sink, so that it is not mistaken for one of S3. */
class SourceFailed extends Error {
  constructor(cause: unknown) {
    super("not the store's error", { cause });
  }
}

async function withS3Errors<T>(type: string, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SourceFailed ? error.cause : translated(error, type, name);
  }
}

async function* eachWithS3Errors<T>(list: () => AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* list();
  } catch (error) {
    throw translated(error, "Bucket", "");
  }
}

function fingerprint(segments: Segment[]): string {
  const hash = createHash("sha256");
  for (const { offset, size, etag } of segments) hash.update(`${offset} ${size} ${etag}\n`);
  return hash.digest("hex");
}

/** Checks the bucket when it is opened. The error names the part of the URL at fault, as far as S3 reports it. */
async function checkBucket(look: () => Promise<unknown>): Promise<void> {
  try {
    await look();
  } catch (error) {
    const { name, status, code } = s3Error(error);
    const message = error instanceof Error ? error.message : String(error);
    if (name === "NoSuchBucket") throw new BlobsUrlError("bucket: there is no such bucket", { cause: error });
    if (/region is missing/i.test(message)) throw new BlobsUrlError("region: is needed", { cause: error });
    if (name === "CredentialsProviderError")
      throw new BlobsUrlError("no credentials were found where AWS tools read them", { cause: error });
    throw new BlobsUrlError(`the bucket cannot be used: ${[status, code ?? name].filter(Boolean).join(" ")}`, {
      cause: error,
    });
  }
}
