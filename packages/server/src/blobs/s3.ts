import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { BlobStore, ByteRange, ByteSink } from "./blob-store.ts";
import { openBucket } from "./s3-bucket.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import type { NetworkOptions } from "./s3-client.ts";
import { eachWithS3Errors, s3Error, SourceFailed, withS3Errors } from "./s3-errors.ts";
import { newGeneration } from "./names.ts";
import { S3Keys } from "./s3-keys.ts";
import { listBlobs, listUploads } from "./s3-lists.ts";
import { S3Uploads } from "./s3-uploads.ts";
import { BlobsUrlError, parseS3Url } from "./s3-url.ts";
import { sendChunks } from "./transfer.ts";

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
  const uploads = new S3Uploads(bucket, keys, { partBytes, maxParts, copyBytes });
  const ofBlob = <T>(digest: string, generation: string, work: (key: string) => Promise<T>): Promise<T> =>
    withS3Errors("Blob", digest, () => work(keys.blob(digest, generation)));
  return {
    startUpload: (id) => uploads.start(id),
    uploadSize: (id) => uploads.size(id),
    append: (id, offset, source, options) => uploads.append(id, offset, source, options),
    finish: (id, expectedDigest) => uploads.finish(id, expectedDigest),
    storeWhole: async (content, digest) => {
      const generation = newGeneration();
      await ofBlob(digest, generation, (key) => bucket.put(key, content));
      return { digest, size: content.length, generation };
    },
    readWhole: (digest, generation) => ofBlob(digest, generation, (key) => bucket.getWhole(key)),
    read: (digest, generation, range, sink) => ofBlob(digest, generation, (key) => read(bucket, key, range, sink)),
    remove: (digest, generation) => ofBlob(digest, generation, (key) => bucket.remove(key)),
    removeUpload: (id) => uploads.remove(id),
    redirectUrl: (digest, generation, ttlMs) => ofBlob(digest, generation, (key) => presignedUrl(bucket, key, ttlMs)),
    listUploads: () => eachWithS3Errors(() => listUploads(bucket, keys)),
    listBlobs: () => eachWithS3Errors(() => listBlobs(bucket, keys)),
  };
}

async function read(bucket: S3Bucket, key: string, range: ByteRange, sink: ByteSink): Promise<void> {
  const chunks = await bucket.get({ key, ...range });
  await sendChunks(chunks, (chunk) =>
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
