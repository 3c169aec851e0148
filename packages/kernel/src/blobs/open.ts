import { openFilesystemBlobs } from "./filesystem.ts";
import { diskReserve } from "../lib/disk-reserve.ts";
import type { BlobStore } from "./blob-store.ts";
import type { ContentBucket } from "./content-bucket.ts";
import type { NetworkOptions } from "./s3-client.ts";
import { parseS3Url } from "./s3-url.ts";

/**
 * The store that the settings name: S3 by its URL, or files in the data folder. Throws a BlobsUrlError for a URL that
 * cannot be used.
 */
export async function openBlobs({
  dataDir,
  blobsUrl,
  blobsTimeoutMs,
  diskReserveBytes,
}: {
  dataDir: string;
  blobsUrl: string;
  /** How long an S3 server may be silent. Defaults to five seconds. */
  blobsTimeoutMs?: number;
  diskReserveBytes: number;
}): Promise<BlobStore> {
  if (blobsUrl === "") return openFilesystemBlobs(dataDir, diskReserve(dataDir, diskReserveBytes));
  // Imported on use: the SDK costs memory and start-up time.
  const { openS3Blobs } = await import("./s3.ts");
  return openS3Blobs(blobsUrl, { ...(blobsTimeoutMs !== undefined && { silenceTimeoutMs: blobsTimeoutMs }) });
}

/**
 * The bucket of a URL in the form of `parseS3Url`, read with the credentials of the SDK's default chain. No request is
 * made yet. Throws a BlobsUrlError when the URL is wrong.
 */
export async function openContentBucket(url: string, network: NetworkOptions = {}): Promise<ContentBucket> {
  const location = parseS3Url(url);
  // Imported on use: the SDK costs memory and start-up time.
  const { contentBucketAt } = await import("./s3-content.ts");
  return contentBucketAt(location, network);
}
