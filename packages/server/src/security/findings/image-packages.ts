import type { Database } from "../../store/index.ts";
import { countingSource } from "../attached/sources.ts";

/** An image as a repo has it. `atMs`: as of a time, in milliseconds since 1970; now without. */
export interface ImageAsOf {
  repo: string;
  digest: string;
  atMs?: number;
}

/**
 * The source whose packages count for the image in the repo: see `image_packages.source`. An image that was read after
 * the time has the packages that were read then, since an image does not change. Undefined when nothing is known of
 * what it holds.
 */
export async function countedSource(db: Database, image: ImageAsOf): Promise<string | undefined> {
  return (await countingSource(db, image))?.source;
}
