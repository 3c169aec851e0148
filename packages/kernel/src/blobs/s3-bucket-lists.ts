import { ListMultipartUploadsCommand, ListObjectsV2Command, ListPartsCommand } from "@aws-sdk/client-s3";
import type { ListMultipartUploadsCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { isMissing, isUnsupported } from "./s3-errors.ts";

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

/** See `S3Bucket.list`. */
export async function* listObjects(
  client: S3Client,
  Bucket: string,
  prefix: string,
  patience: { requestTimeout: number },
): AsyncGenerator<S3Object> {
  for (let ContinuationToken: string | undefined; ;) {
    const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }), patience);
    for (const { Key, Size = 0, ETag = "", LastModified } of page.Contents ?? []) {
      if (Key !== undefined) yield { key: Key, size: Size, etag: ETag, modifiedMs: LastModified?.getTime() ?? 0 };
    }
    ContinuationToken = page.NextContinuationToken;
    if (!page.IsTruncated || ContinuationToken === undefined) return;
  }
}

/** What is directly below a prefix that is empty or ends with a slash: names up to the next slash are folders. */
export async function* listNames(
  client: S3Client,
  Bucket: string,
  prefix: string,
): AsyncGenerator<{ name: string; isFolder: boolean }> {
  for (let ContinuationToken: string | undefined; ;) {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, Delimiter: "/", ContinuationToken }),
    );
    for (const { Prefix = "" } of page.CommonPrefixes ?? [])
      if (Prefix.startsWith(prefix)) yield { name: Prefix.slice(prefix.length).replace(/\/$/, ""), isFolder: true };
    // The object with the name of the prefix itself is how some tools make folders.
    for (const { Key = "" } of page.Contents ?? [])
      if (Key.startsWith(prefix) && Key !== prefix) yield { name: Key.slice(prefix.length), isFolder: false };
    ContinuationToken = page.NextContinuationToken;
    if (!page.IsTruncated || ContinuationToken === undefined) return;
  }
}

/** See `S3Bucket.listMultiparts`. */
export async function* listMultiparts(client: S3Client, Bucket: string, prefix: string): AsyncGenerator<OpenMultipart> {
  for (let [KeyMarker, UploadIdMarker]: (string | undefined)[] = []; ;) {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket,
      Prefix: prefix,
      KeyMarker,
      UploadIdMarker,
    });
    const page: ListMultipartUploadsCommandOutput | undefined = await client.send(command).catch((error: unknown) => {
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
}

/** See `S3Bucket.lastPartMs`. */
export async function lastPartMs(
  client: S3Client,
  Bucket: string,
  { key, uploadId, beganMs }: OpenMultipart,
): Promise<number> {
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
}
