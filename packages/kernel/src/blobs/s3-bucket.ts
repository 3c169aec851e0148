import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import type { CompletedPart, S3Client } from "@aws-sdk/client-s3";
import { openClients } from "./s3-client.ts";
import type { NetworkOptions, S3Clients } from "./s3-client.ts";
import { isMissing } from "./s3-errors.ts";
import { lastPartMs, listMultiparts, listNames, listObjects } from "./s3-bucket-lists.ts";
import type { OpenMultipart, S3Object } from "./s3-bucket-lists.ts";
import { bytesOf, headOf, type ObjectRange, smallOf, wholeOf } from "./s3-read.ts";
import type { S3Location } from "./s3-url.ts";
import { BucketWrites } from "./s3-bucket-writes.ts";
import type { StartedMultipart } from "./s3-bucket-writes.ts";

/**
 * One bucket. Keys include the prefix; every call has a time limit and is retried by the SDK. Errors are those of the
 * SDK.
 */
export interface S3Bucket {
  client: S3Client;
  /** For requests with a body. */
  sender: S3Client;
  /** See S3Clients. */
  patience: S3Clients["patience"];
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
  /** A byte range of an object: see bytesOf. */
  get(range: ObjectRange): AsyncIterable<Buffer>;
  getWhole(key: string): Promise<Buffer>;
  /** See smallOf. */
  getSmall(key: string, maxBytes: number): Promise<{ content: Buffer; modifiedMs: number }>;
  /** In bytes; undefined when it is missing. */
  size(key: string): Promise<number | undefined>;
  /** See headOf. */
  head(key: string): Promise<{ size: number; etag: string } | undefined>;
  /** Does nothing when it is missing. */
  remove(key: string): Promise<void>;
  /** Ordered by key. */
  list(prefix: string): AsyncGenerator<S3Object>;
  /** See listNames. */
  listNames(prefix: string): AsyncGenerator<{ name: string; isFolder: boolean }>;
  /** Empty when the server cannot list them. */
  listMultiparts(prefix: string): AsyncGenerator<OpenMultipart>;
  /** When the last part arrived, in milliseconds since 1970. */
  lastPartMs(multipart: OpenMultipart): Promise<number>;
}

/** The bucket at that location. No request is made before the first call. */
export function openBucket(location: S3Location, network: NetworkOptions = {}): S3Bucket {
  const name = location.bucket;
  const clients = openClients(location, network);
  const { client, sender, patience, silenceTimeoutMs } = clients;
  const source = { client, bucket: name, silenceTimeoutMs };
  const writes = new BucketWrites(clients, name);
  return {
    client,
    sender,
    patience,
    name,
    put: (key, body, options) => writes.put(key, body, options),
    startMultipart: (key) => writes.startMultipart(key),
    completeMultipart: (key, multipart, parts, options) => writes.completeMultipart(key, multipart, parts, options),
    abortMultipart: (key, uploadId) => writes.abortMultipart(key, uploadId),
    get: (range) => bytesOf(source, range),
    getWhole: (key) => wholeOf(source, key),
    getSmall: (key, maxBytes) => smallOf(source, key, maxBytes),
    size: async (key) => (await headOf(source, key))?.size,
    head: (key) => headOf(source, key),
    remove: (key) => remove(clients, name, key),
    list: (prefix) => listObjects(client, name, prefix, patience.write),
    listNames: (prefix) => listNames(client, name, prefix),
    listMultiparts: (prefix) => listMultiparts(client, name, prefix),
    lastPartMs: (multipart) => lastPartMs(client, name, multipart),
  };
}

async function remove({ client, patience }: S3Clients, Bucket: string, key: string): Promise<void> {
  await client.send(new DeleteObjectCommand({ Bucket, Key: key }), patience.write).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}
