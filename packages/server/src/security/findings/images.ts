import { type Database, select } from "../../store/index.ts";

/** A digest of a repo. */
export interface ImageName {
  repo: string;
  digest: string;
}

const ROWS = 300;
/** The most tags that are named of an image. */
const MAX_TAGS = 50;

/**
 * The tags that point to each of these images, directly or through an index, by `repo digest`; those that no tag points
 * to are left out. `atMs`: the tags of then; now without.
 */
export async function tagsOfImages(
  db: Database,
  images: readonly ImageName[],
  atMs?: number,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const [repo, some] of Map.groupBy(images, (image) => image.repo))
    for (let at = 0; at < some.length; at += ROWS) {
      const digests = some.slice(at, at + ROWS).map(({ digest }) => digest);
      const indexes = await indexesOf(db, repo, digests);
      const pointed = await tagsTo(db, repo, [...new Set([...digests, ...indexes.map(({ index }) => index)])], atMs);
      for (const digest of digests) {
        const through = indexes.filter(({ image }) => image === digest).map(({ index }) => index);
        const tags = [...new Set([digest, ...through].flatMap((each) => pointed.get(each) ?? []))];
        if (tags.length > 0) found.set(nameOf({ repo, digest }), tags.sort().slice(0, MAX_TAGS));
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

/** The names of the tags that point to each digest. */
async function tagsTo(
  db: Database,
  repo: string,
  digests: readonly string[],
  atMs: number | undefined,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (let at = 0; at < digests.length; at += ROWS) {
    const some = digests.slice(at, at + ROWS);
    const rows = await (atMs === undefined
      ? select<{ digest: string; tag: string }>(
          db,
          `select digest, name as tag from tags where parent = ? and digest in (${marks(some)})`,
          [repo, ...some],
        )
      : select<{ digest: string; tag: string }>(
          db,
          // The last record of a tag before the time says where it pointed.
          `select h.digest, h.tag from tag_history as h where h.repo = ? and h.digest in (${marks(some)}) and h.time <= ?
           and not exists (select 1 from tag_history as l where l.repo = h.repo and l.tag = h.tag and l.time > h.time and l.time <= ?)`,
          [repo, ...some, atMs, atMs],
        ));
    for (const { digest, tag } of rows) found.set(digest, [...(found.get(digest) ?? []), tag]);
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

export const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
