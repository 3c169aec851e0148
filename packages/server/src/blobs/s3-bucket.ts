import { randomUUID } from "node:crypto";
import type { LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { CompletedPart, ListMultipartUploadsCommandOutput, PutObjectCommandInput } from "@aws-sdk/client-s3";
import { isConflict, isFolderRace, isMissing, isUnsupported } from "./s3-errors.ts";
import type { Piece } from "./s3-parts.ts";
import type { S3Location } from "./s3-url.ts";

// Limits of each attempt; the SDK makes three. A body may pause while it is read, for as long as its reader does.
const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 90_000;
const MAX_ATTEMPTS = 3;
const FOLDER_ATTEMPTS = 5;
const FOLDER_PAUSE_MS = 20;
const MAX_SOCKETS = 256;
const CONTENT_TYPE = "application/octet-stream";

export interface S3Object {
  key: string;
  size: number;
  etag: string;
  modifiedMs: number;
}
/** A multipart upload that was started and neither completed nor aborted. */
export interface OpenMultipart {
  key: string;
  uploadId: string;
  beganMs: number;
}

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
  startMultipart(key: string): Promise<{ uploadId: string; writer: string }>;
  /** Combines the parts into one object, under the same conditions as `put`. */
  completeMultipart(
    key: string,
    multipart: { uploadId: string; writer: string },
    parts: CompletedPart[],
    options?: { fresh?: boolean },
  ): Promise<string>;
  /** Does nothing when it is missing. */
  abortMultipart(key: string, uploadId: string): Promise<void>;
  /** A byte range of an object. Fails with PreconditionFailed when the object has another ETag. */
  get(piece: Omit<Piece, "etag"> & { etag?: string }): Promise<AsyncIterable<Buffer>>;
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

export interface NetworkOptions {
  /** Replaces the system's resolver. */
  lookup?: LookupFunction;
  /** The time limit for the response to one attempt. Defaults to one minute. */
  answerTimeoutMs?: number;
}

/** The bucket at that location. No request is made before the first call. */
export function openBucket(
  location: S3Location,
  { lookup, answerTimeoutMs = ANSWER_TIMEOUT_MS }: NetworkOptions = {},
): S3Bucket {
  const { bucket: Bucket, endpoint, region, pathStyle } = location;
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS, lookup };
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // The newer checksums are sent as trailers, which many servers other than AWS' reject. The signature covers the
    // bytes of every request anyway.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: answerTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (attempt === FOLDER_ATTEMPTS || !isFolderRace(error)) throw error;
          await wait(attempt * FOLDER_PAUSE_MS);
        }
      }
    },
    { step: "initialize", name: "folderRaces" },
  );
  // Servers without conditional writes say so on the first one. From then on only the comparison of ETags before
  // assembling protects against concurrent writers.
  let conditional = true;

  /**
   * Sends a write that must not replace an object. A retry after a lost response finds the object that its first
   * attempt created, and recognizes it by the writer's mark.
   */
  async function written(
    key: string,
    writer: string,
    fresh: boolean,
    send: (ifNoneMatch: string | undefined) => Promise<{ ETag?: string }>,
  ): Promise<string> {
    try {
      return (await send(fresh && conditional ? "*" : undefined)).ETag ?? "";
    } catch (error) {
      if (fresh && conditional && isUnsupported(error)) {
        conditional = false;
        return written(key, writer, fresh, send);
      }
      if (!isConflict(error) && !isMissing(error)) throw error;
      const found = await client.send(new HeadObjectCommand({ Bucket, Key: key })).catch(() => undefined);
      if (found?.Metadata?.["writer"] === writer) return found.ETag ?? "";
      throw error;
    }
  }

  return {
    client,
    name: Bucket,
    put(key, body, { fresh = false } = {}) {
      const writer = randomUUID();
      const input: PutObjectCommandInput = {
        Bucket,
        Key: key,
        Body: body,
        ContentLength: body.length,
        ContentType: CONTENT_TYPE,
        Metadata: { writer },
      };
      return written(key, writer, fresh, (IfNoneMatch) => client.send(new PutObjectCommand({ ...input, IfNoneMatch })));
    },
    async startMultipart(key) {
      const writer = randomUUID();
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket, Key: key, ContentType: CONTENT_TYPE, Metadata: { writer } }),
      );
      if (UploadId === undefined) throw new Error("the S3 server gave a multipart upload no id");
      return { uploadId: UploadId, writer };
    },
    completeMultipart(key, { uploadId, writer }, parts, { fresh = false } = {}) {
      const input = { Bucket, Key: key, UploadId: uploadId, MultipartUpload: { Parts: parts } };
      return written(key, writer, fresh, (IfNoneMatch) =>
        client.send(new CompleteMultipartUploadCommand({ ...input, IfNoneMatch })),
      );
    },
    async abortMultipart(key, uploadId) {
      await client
        .send(new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId: uploadId }))
        .catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
    },
    async get({ key, etag, start, end }) {
      const { Body } = await client.send(
        new GetObjectCommand({ Bucket, Key: key, IfMatch: etag, Range: `bytes=${start}-${end}` }),
      );
      return exactly(Body as AsyncIterable<Buffer>, end - start + 1);
    },
    async getWhole(key) {
      const { Body, ContentLength } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
      const chunks: Buffer[] = [];
      for await (const chunk of exactly(Body as AsyncIterable<Buffer>, ContentLength ?? 0)) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: key })).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },
    async *list(prefix) {
      for (let ContinuationToken: string | undefined; ;) {
        const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }));
        for (const { Key, Size = 0, ETag = "", LastModified } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key, size: Size, etag: ETag, modifiedMs: LastModified?.getTime() ?? 0 };
        }
        ContinuationToken = page.NextContinuationToken;
        if (!page.IsTruncated || ContinuationToken === undefined) return;
      }
    },
    async *listMultiparts(prefix) {
      for (let [KeyMarker, UploadIdMarker]: (string | undefined)[] = []; ;) {
        const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
          Bucket,
          Prefix: prefix,
          KeyMarker,
          UploadIdMarker,
        });
        const page: ListMultipartUploadsCommandOutput | undefined = await client
          .send(command)
          .catch((error: unknown) => {
            if (isUnsupported(error)) return undefined;
            throw error;
          });
        for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
          if (Key?.startsWith(prefix) && UploadId !== undefined)
            yield { key: Key, uploadId: UploadId, beganMs: Initiated?.getTime() ?? 0 };
        }
        if (!page?.IsTruncated || page.NextKeyMarker === undefined) return;
        [KeyMarker, UploadIdMarker] = [page.NextKeyMarker, page.NextUploadIdMarker];
      }
    },
    async lastPartMs({ key, uploadId, beganMs }) {
      let lastMs = beganMs;
      for (let PartNumberMarker: string | undefined; ;) {
        const page = await client
          .send(new ListPartsCommand({ Bucket, Key: key, UploadId: uploadId, PartNumberMarker }))
          .catch((error: unknown) => {
            if (isMissing(error)) return undefined;
            throw error;
          });
        for (const { LastModified } of page?.Parts ?? []) lastMs = Math.max(lastMs, LastModified?.getTime() ?? 0);
        PartNumberMarker = page?.NextPartNumberMarker;
        if (!page?.IsTruncated || PartNumberMarker === undefined) return lastMs;
      }
    },
  };
}

const silent = (): void => undefined;
const SILENT = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };

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
