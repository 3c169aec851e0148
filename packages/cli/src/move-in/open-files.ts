import { UsageFailure } from "../command/failure.ts";
import { openBucketFiles } from "./bucket-files.ts";
import { openFolderFiles } from "./folder-files.ts";
import type { RegistryFiles } from "./registry-files.ts";

/**
 * Finds the folder with `blobs` and `repositories` at or below a path of this machine, or the URL of a bucket. Throws a
 * SourceError when it is not there, or cannot be read, and a UsageFailure for a URL that is wrong.
 */
export async function openRegistryFiles(place: string): Promise<RegistryFiles> {
  const [, scheme] = /^([a-z0-9+.-]+):\/\//i.exec(place) ?? [];
  if (scheme === undefined) return await openFolderFiles(place);
  if (scheme.toLowerCase() === "s3") return await openBucketFiles(place);
  throw new UsageFailure(`${place}: only folders of this machine and buckets of S3 are read; it comes as oci`);
}
