import { type Database, select } from "@moorage/kernel/store";
import { countingSources } from "../attached/sources.ts";
import { marks } from "../marks.ts";

/** An image as a repo has it. `atMs`: as of a time, in milliseconds since 1970; now without. */
export interface ImageAsOf {
  repo: string;
  digest: string;
  atMs?: number;
}

/**
 * The sources whose packages count for the image in the repo: see `image_packages.source` and countingSources. An image
 * that was read after the time has the packages that were read then, since an image does not change. None when nothing
 * is known of what it holds.
 */
export async function countedSources(db: Database, image: ImageAsOf): Promise<string[]> {
  return (await countingSources(db, image)).map(({ source }) => source);
}

/** Whether the image holds a package, by one of these sources, that was not compared with the records yet. */
export async function isAnyUnmatched(db: Database, digest: string, sources: readonly string[]): Promise<boolean> {
  if (sources.length === 0) return false;
  const rows = await select(
    db,
    `select p.id from packages as p where p.matched is null and exists
      (select 1 from image_packages as i where i.package = p.id and i.digest = ? and i.source in (${marks(sources)})) limit 1`,
    [digest, ...sources],
  );
  return rows.length > 0;
}
