// The files below a registry's folder in an S3 bucket, as its storage driver `s3` leaves them.
import { BlobsUrlError, BucketError, type ContentBucket, openContentBucket } from "@moorage/kernel/blobs";
import { UsageFailure } from "../command/failure.ts";
import { BELOW, MAX_ENTRIES, noRegistry, type RegistryFiles } from "./registry-files.ts";
import { SourceError } from "./source-error.ts";

/** As `openRegistryFiles`, of a URL. */
export async function openBucketFiles(url: string): Promise<RegistryFiles> {
  const bucket = await openContentBucket(url).catch((error: unknown) => {
    throw error instanceof BlobsUrlError ? new UsageFailure(`${url}: ${error.message}`) : error;
  });
  for (const below of BELOW) {
    const root = below === "" ? bucket : bucket.below(below);
    const parts = await Promise.all(["blobs", "repositories"].map((part) => hasNames(root, part)));
    if (parts.every(Boolean)) return filesIn(root);
  }
  throw noRegistry(url);
}

async function hasNames(bucket: ContentBucket, folder: string): Promise<boolean> {
  return await readable(folder, async () => {
    for await (const _ of bucket.list(folder)) return true;
    return false;
  });
}

function filesIn(bucket: ContentBucket): RegistryFiles {
  return {
    root: bucket.url,
    async *list(path) {
      let count = 0;
      try {
        for await (const { name, isFolder } of bucket.list(path)) {
          if ((count += 1) > MAX_ENTRIES) throw new SourceError(`${path} has more than ${MAX_ENTRIES} names`);
          yield { name, kind: isFolder ? "folder" : "other" };
        }
      } catch (error) {
        throw error instanceof BucketError ? unreadable(path, error) : error;
      }
    },
    read: (path, maxBytes) => readable(path, () => bucket.read(path, maxBytes)),
    size: (path) => readable(path, () => bucket.size(path)),
    place: (path) => bucket.object(path),
  };
}

async function readable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BucketError ? unreadable(path, error) : error;
  }
}

function unreadable(path: string, error: BucketError): SourceError {
  return new SourceError(`${path} ${error.message}`);
}
