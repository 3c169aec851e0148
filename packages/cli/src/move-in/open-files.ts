import { openBucketFiles } from "./bucket-files.ts";
import { isBucket } from "./flags.ts";
import { openFolderFiles } from "./folder-files.ts";
import type { RegistryFiles } from "./registry-files.ts";

/**
 * Finds the folder with `blobs` and `repositories` at or below a path of this machine, or the URL of a bucket. Throws a
 * SourceError when it is not there, or cannot be read, and a UsageFailure for a URL that is wrong.
 */
export async function openRegistryFiles(place: string): Promise<RegistryFiles> {
  return isBucket(place) ? await openBucketFiles(place) : await openFolderFiles(place);
}
