import { DeleteObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import type { CompletedPart, S3Client } from "@aws-sdk/client-s3";
import { openClient } from "./s3-client.ts";
import type { NetworkOptions } from "./s3-client.ts";
import { isMissing } from "./s3-errors.ts";
import { lastPartMs, listMultiparts, listObjects } from "./s3-bucket-lists.ts";
import type { OpenMultipart, S3Object } from "./s3-bucket-lists.ts";
import type { Piece } from "./s3-parts.ts";
import type { S3Location } from "./s3-url.ts";
import { BucketWrites } from "./s3-bucket-writes.ts";
import type { StartedMultipart } from "./s3-bucket-writes.ts";

/** The range of an object to read. */
type ObjectRange = Omit<Piece, "etag"> & { etag?: string };

/**
 * One bucket. Keys include the prefix; every call has a time limit and is retried by the SDK. Errors are those of the
 * SDK.
 */
export interface S3Bucket {
  client: S3Client;
  name: string;
  /**
   * Stores a small object and returns its ETag. With `fresh` it fails with PreconditionFailed when the object already
   * exists.
   */
  put(key: string, body: Buffer, options?: { fresh?: boolean }): Promise<string>;
  startMultipart(key: string): Promise<StartedMultipart>;
  /** Combines the parts into one object, under the same conditions as `put`. */
  completeMultipart(
    key: string,
    multipart: StartedMultipart,
    parts: CompletedPart[],
    options?: { fresh?: boolean },
  ): Promise<string>;
  /** Does nothing when it is missing. */
  abortMultipart(key: string, uploadId: string): Promise<void>;
  /** A byte range of an object. Fails with PreconditionFailed when the object has another ETag. */
  get(range: ObjectRange): Promise<AsyncIterable<Buffer>>;
  getWhole(key: string): Promise<Buffer>;
  /** Does nothing when it is missing. */
  remove(key: string): Promise<void>;
  /** Ordered by key. */
  list(prefix: string): AsyncGenerator<S3Object>;
  /** Empty when the server cannot list them. */
  listMultiparts(prefix: string): AsyncGenerator<OpenMultipart>;
  /** When the last part arrived, in milliseconds since 1970. */
  lastPartMs(multipart: OpenMultipart): Promise<number>;
}

/** The bucket at that location. No request is made before the first call. */
export function openBucket(location: S3Location, network: NetworkOptions = {}): S3Bucket {
  const name = location.bucket;
  const client = openClient(location, network);
  const writes = new BucketWrites(client, name);
  return {
    client,
    name,
    put: (key, body, options) => writes.put(key, body, options),
    startMultipart: (key) => writes.startMultipart(key),
    completeMultipart: (key, multipart, parts, options) => writes.completeMultipart(key, multipart, parts, options),
    abortMultipart: (key, uploadId) => writes.abortMultipart(key, uploadId),
    get: (range) => get(client, name, range),
    getWhole: (key) => getWhole(client, name, key),
    remove: (key) => remove(client, name, key),
    list: (prefix) => listObjects(client, name, prefix),
    listMultiparts: (prefix) => listMultiparts(client, name, prefix),
    lastPartMs: (multipart) => lastPartMs(client, name, multipart),
  };
}

async function get(client: S3Client, Bucket: string, range: ObjectRange): Promise<AsyncIterable<Buffer>> {
  const { key, etag, start, end } = range;
  const { Body } = await client.send(
    new GetObjectCommand({ Bucket, Key: key, IfMatch: etag, Range: `bytes=${start}-${end}` }),
  );
  return exactly(Body as AsyncIterable<Buffer>, end - start + 1);
}

async function getWhole(client: S3Client, Bucket: string, key: string): Promise<Buffer> {
  const { Body, ContentLength } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
  const chunks: Buffer[] = [];
  for await (const chunk of exactly(Body as AsyncIterable<Buffer>, ContentLength ?? 0)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function remove(client: S3Client, Bucket: string, key: string): Promise<void> {
  await client.send(new DeleteObjectCommand({ Bucket, Key: key })).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** The chunks, which must have that many bytes together: a connection that closes early is an error, not the end. */
async function* exactly(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let rest = bytes;
  for await (const chunk of chunks) {
    rest -= chunk.length;
    yield chunk;
  }
  if (rest !== 0)
    throw Object.assign(new Error("the S3 server sent another number of bytes than asked for"), { code: "ECONNRESET" });
}
