import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createLru } from "../lib/lru.ts";
import { storageFault } from "../lib/storage-fault.ts";
import { Code, MoorageError } from "../errors.ts";
import type { BlobStore, ByteRange, ByteSink, ContentObject, StoredBlob } from "./blob-store.ts";
import { unusable } from "./content-file.ts";
import { copyObjectInto, statOf } from "./content-object.ts";
import { openBucket } from "./s3-bucket.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import type { NetworkOptions } from "./s3-client.ts";
import { eachWithS3Errors, isConflict, s3Error, SourceFailed, withS3Errors } from "./s3-errors.ts";
import { newGeneration, requireBlobName } from "./names.ts";
import { S3Keys } from "./s3-keys.ts";
import { listBlobs, listUploads } from "./s3-lists.ts";
import { S3Uploads } from "./s3-uploads.ts";
import { BlobsUrlError, parseS3Url } from "./s3-url.ts";
import { sendChunks } from "./transfer.ts";
import { requireDigest, type UnverifiedStore, verified } from "./verify.ts";
import { startOf } from "./whole.ts";

const PART_BYTES = 8 * 1024 * 1024;
// That an object is there is believed for so long.
const SEEN_MS = 30_000;
const MAX_SEEN = 50_000;

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

/**
 * Blobs in an S3 bucket, named by a URL in the form of `parseS3Url`; credentials come from the SDK's default chain.
 * Throws a BlobsUrlError when the URL is wrong or the bucket cannot be used.
 */
export async function openS3Blobs(
  url: string,
  { partBytes = PART_BYTES, maxParts, copyBytes, ...network }: S3Options = {},
): Promise<BlobStore> {
  const location = parseS3Url(url);
  const bucket = openBucket(location, network);
  const keys = new S3Keys(location.prefix);
  await checkBucket(bucket, keys);
  const seen = seenSizes();
  const uploads = new S3Uploads(bucket, keys, { partBytes, maxParts, copyBytes });
  const ofBlob = <T>(digest: string, generation: string, work: (key: string) => Promise<T>): Promise<T> =>
    withS3Errors("Blob", digest, () => work(keys.blob(digest, generation)));
  const stored = async (blob: Promise<StoredBlob>): Promise<StoredBlob> => {
    const { digest, generation, size } = await blob;
    seen.set(keys.blob(digest, generation), size);
    return blob;
  };
  const put = async (content: Buffer, digest: string): Promise<StoredBlob> => {
    const generation = newGeneration();
    await ofBlob(digest, generation, (key) => bucket.put(key, content));
    return stored(Promise.resolve({ digest, size: content.length, generation }));
  };
  const store: UnverifiedStore = {
    startUpload: (id) => uploads.start(id),
    uploadSize: (id) => uploads.size(id),
    async append(id, offset, source, options) {
      const appended = await uploads.append(id, offset, source, options);
      if (appended.blob !== undefined) await stored(Promise.resolve(appended.blob));
      return appended;
    },
    finish: (id, expectedDigest) => stored(uploads.finish(id, expectedDigest)),
    storeWhole: put,
    async store(source, digest, options = {}) {
      requireBlobName(digest);
      const { content, rest } = await startOf(source, options);
      if (rest === undefined) {
        requireDigest(content, digest);
        return await put(content, digest);
      }
      return await stored(uploads.store(rest, digest, options));
    },
    async adoptObject(object, blob) {
      const isOfServer = object.endpoint === location.endpoint;
      const copied = isOfServer ? await copyWithin(uploads, object, blob) : undefined;
      if (copied === undefined) return await copyObjectInto(store, object, blob);
      return { ...(await stored(Promise.resolve(copied))), how: "copy" };
    },
    contentSize: (digest, generation, { fresh = false } = {}) =>
      ofBlob(digest, generation, async (key) => {
        const known = fresh ? undefined : seen.get(key);
        if (known !== undefined) return known;
        const size = await bucket.size(key);
        if (size === undefined) seen.forget(key);
        else seen.set(key, size);
        return size;
      }),
    readWhole: (digest, generation) =>
      ofBlob(digest, generation, (key) => seen.unlessFailed(key, () => bucket.getWhole(key))),
    read: (digest, generation, range, sink) =>
      ofBlob(digest, generation, (key) => seen.unlessFailed(key, () => read(bucket, key, range, sink))),
    remove: (digest, generation) =>
      ofBlob(digest, generation, (key) => {
        seen.forget(key);
        return bucket.remove(key);
      }),
    probe: () => withS3Errors("Bucket", "", () => probe(bucket, keys)),
    removeUpload: (id) => uploads.remove(id),
    redirectUrl: (digest, generation, ttlMs) => ofBlob(digest, generation, (key) => presignedUrl(bucket, key, ttlMs)),
    listUploads: () => eachWithS3Errors(() => listUploads(bucket, keys)),
    listBlobs: () => eachWithS3Errors(() => listBlobs(bucket, keys)),
  };
  return verified(store);
}

/** A copy that the S3 server makes by itself; undefined where it does not, for example by other rights. */
async function copyWithin(
  uploads: S3Uploads,
  object: ContentObject,
  blob: { digest: string; size: number },
): Promise<StoredBlob | undefined> {
  const { etag } = await statOf(object, blob);
  try {
    return await uploads.copy({ bucket: object.bucket, key: object.key, etag }, blob);
  } catch (error) {
    if (isConflict(error)) throw unusable("changed while it was read");
    if (error instanceof MoorageError && error.code === Code.InvalidArgument) throw error;
    return undefined;
  }
}

/** The sizes of objects that were there a moment ago, by their keys. */
function seenSizes() {
  const sizes = createLru<string, { size: number; atMs: number }>(MAX_SEEN);
  return {
    get(key: string): number | undefined {
      const known = sizes.get(key);
      return known !== undefined && performance.now() - known.atMs < SEEN_MS ? known.size : undefined;
    },
    set: (key: string, size: number): void => void sizes.set(key, { size, atMs: performance.now() }),
    forget: (key: string): void => void sizes.delete(key),
    /** Runs the work, and forgets the size when that fails. */
    async unlessFailed<T>(key: string, work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (error) {
        sizes.delete(key);
        throw error;
      }
    },
  };
}

/** Writes an empty object, always the same. Where it may not, but may list: the bucket is read-only. */
async function probe(bucket: S3Bucket, keys: S3Keys): Promise<void> {
  try {
    await bucket.put(keys.probe, Buffer.alloc(0));
  } catch (error) {
    if (s3Error(error).name !== "AccessDenied") throw error;
    await bucket.list(keys.uploads).next();
    throw storageFault({ part: "blobs", reason: "read_only" }, error);
  }
}

async function read(bucket: S3Bucket, key: string, range: ByteRange, sink: ByteSink): Promise<void> {
  await sendChunks(bucket.get({ key, ...range }), (chunk) =>
    sink(chunk).catch((error: unknown) => {
      throw new SourceFailed(error);
    }),
  );
}

function presignedUrl({ client, name }: S3Bucket, key: string, ttlMs: number): Promise<string> {
  const command = new GetObjectCommand({ Bucket: name, Key: key });
  return getSignedUrl(client, command, { expiresIn: Math.max(1, Math.floor(ttlMs / 1000)) });
}

/** Checks the bucket when it is opened. The error names the part of the URL at fault, as far as S3 reports it. */
async function checkBucket(bucket: S3Bucket, keys: S3Keys): Promise<void> {
  try {
    await bucket.list(keys.uploads).next();
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
