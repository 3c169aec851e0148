import { type Database, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";

/** A digest of a repo. */
export interface ImageName {
  repo: string;
  digest: string;
}

const ROWS = 300;

/** The most tags that are named of an image. */
const MAX_TAGS = 50;

/** The tags that point to an image. */
export interface TagsOfImage {
  /** Those that moved last first, at most MAX_TAGS. */
  names: string[];
  /** How many there are. */
  total: number;
}

/**
 * The tags that point to each of these images, directly or through an index, by `repo digest`; those that no tag points
 * to are left out. `atMs`: the tags of then; now without.
 */
export async function tagsOfImages(
  db: Database,
  images: readonly ImageName[],
  atMs?: number,
): Promise<Map<string, TagsOfImage>> {
  const found = new Map<string, TagsOfImage>();
  for (const [repo, some] of Map.groupBy(images, (image) => image.repo))
    for (let at = 0; at < some.length; at += ROWS) {
      const digests = some.slice(at, at + ROWS).map(({ digest }) => digest);
      const indexes = await indexesOf(db, repo, digests);
      const pointed = await tagsTo(db, repo, [...new Set([...digests, ...indexes.map(({ index }) => index)])], atMs);
      for (const digest of digests) {
        const through = indexes.filter(({ image }) => image === digest).map(({ index }) => index);
        const tags = new Map([digest, ...through].flatMap((each) => pointed.get(each) ?? []));
        const sorted = [...tags].sort(([a, at], [b, other]) => other - at || (a < b ? -1 : 1));
        const names = sorted.slice(0, MAX_TAGS).map(([name]) => name);
        if (tags.size > 0) found.set(nameOf({ repo, digest }), { names, total: tags.size });
      }
    }
  return found;
}

export const nameOf = ({ repo, digest }: ImageName): string => `${repo} ${digest}`;

async function indexesOf(
  db: Database,
  repo: string,
  digests: readonly string[],
): Promise<{ image: string; index: string }[]> {
  return await select<{ image: string; index: string }>(
    db,
    `select target as image, digest as "index" from manifest_references where repo = ? and kind = 'manifest' and target in (${marks(digests)})`,
    [repo, ...digests],
  );
}

/** The names of the tags that point to each digest, with when each moved there, in milliseconds since 1970. */
async function tagsTo(
  db: Database,
  repo: string,
  digests: readonly string[],
  atMs: number | undefined,
): Promise<Map<string, [tag: string, movedMs: number][]>> {
  const found = new Map<string, [tag: string, movedMs: number][]>();
  for (let at = 0; at < digests.length; at += ROWS) {
    const some = digests.slice(at, at + ROWS);
    const rows = await (atMs === undefined
      ? select<{ digest: string; tag: string; moved: number }>(
          db,
          `select digest, name as tag, update_time as moved from tags where parent = ? and digest in (${marks(some)})`,
          [repo, ...some],
        )
      : select<{ digest: string; tag: string; moved: number }>(
          db,
          // The last record of a tag before the time says where it pointed.
          `select h.digest, h.tag, h.time as moved from tag_history as h where h.repo = ? and h.digest in (${marks(some)}) and h.time <= ?
           and not exists (select 1 from tag_history as l where l.repo = h.repo and l.tag = h.tag and l.time > h.time and l.time <= ?)`,
          [repo, ...some, atMs, atMs],
        ));
    for (const { digest, tag, moved } of rows) {
      const known = found.get(digest) ?? [];
      found.set(digest, known);
      known.push([tag, Number(moved)]);
    }
  }
  return found;
}

/** The images that a manifest stands for: itself, or those of an index. */
export async function imagesBehind(db: Database, repo: string, digest: string): Promise<string[]> {
  const rows = await select<{ target: string }>(
    db,
    "select target from manifest_references where repo = ? and digest = ? and kind = 'manifest' order by target",
    [repo, digest],
  );
  return [digest, ...rows.map(({ target }) => target)];
}
