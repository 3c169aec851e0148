import { openFilesystemBlobs } from "./filesystem.ts";
import { diskReserve } from "../lib/disk-reserve.ts";
import type { BlobStore } from "./blob-store.ts";

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
