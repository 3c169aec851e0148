import { openFilesystemBlobs } from "./filesystem.ts";
import type { BlobStore } from "./blob-store.ts";

/**
 * The store that the settings name: S3 by its URL, or files in the data folder. Throws a BlobsUrlError for a URL that
 * cannot be used.
 */
export async function openBlobs({ dataDir, blobsUrl }: { dataDir: string; blobsUrl: string }): Promise<BlobStore> {
  if (blobsUrl === "") return openFilesystemBlobs(dataDir);
  // Imported on use: the SDK costs memory and start-up time.
  const { openS3Blobs } = await import("./s3.ts");
  return openS3Blobs(blobsUrl);
}
