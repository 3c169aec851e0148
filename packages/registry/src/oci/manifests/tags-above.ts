import type { Call } from "@moorage/kernel/core/call";
import { RegistryError } from "../errors.ts";

/** Tags that need a manifest, since an index that they point to contains it. */
export interface TagsAbove {
  /** The names of the first of them, at most MAX_NAMED. */
  tags: string[];
  /** How many there are among the indexes that were looked at. */
  count: number;
  /** The index that the first of them points to. */
  manifest: string;
}

const MAX_NAMED = 10;
// The number of digests in one statement: below every engine's limit of parameters.
const CHUNK = 500;
// A manifest in more indexes than this is not deleted by digest.
const MAX_VISITED = 100_000;

/**
 * The tags that point to an index which contains the manifest, in the nesting that is nearest to it; undefined when
 * there are none. A tag that points to the manifest itself does not count. A tag promises an image that can be pulled
 * for every platform that its index names, so the manifests below it stay like the blobs of an image. Throws
 * UNSUPPORTED 405 when too many indexes contain the manifest to look at. Source: docs/tags.md.
 */
export async function tagsAbove(call: Call, repo: string, digest: string): Promise<TagsAbove | undefined> {
  const visited = new Set([digest]);
  for (let level = [digest]; level.length > 0;) {
    const above = (await indexesOf(call, repo, level)).filter((index) => !visited.has(index));
    for (const index of above) visited.add(index);
    const found = await tagsOf(call, repo, above);
    if (found !== undefined) return found;
    if (visited.size > MAX_VISITED)
      throw new RegistryError("UNSUPPORTED", `More than ${MAX_VISITED} indexes contain this manifest`);
    level = above;
  }
  return undefined;
}

/** Says in a sentence which tags need the manifest. */
export function neededBy({ tags, count }: TagsAbove): string {
  const rest = count - tags.length;
  const names = [...tags, ...(rest > 0 ? [`${rest} more`] : [])];
  const listed = names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return count === 1 ? `Tag ${listed} needs this manifest` : `Tags ${listed} need this manifest`;
}

async function indexesOf(call: Call, repo: string, digests: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (let at = 0; at < digests.length; at += CHUNK) {
    const rows = await call.tx
      .selectFrom("manifest_references")
      .select("digest")
      .where("repo", "=", repo)
      .where("target", "in", digests.slice(at, at + CHUNK))
      .limit(MAX_VISITED + 1)
      .execute();
    for (const row of rows) found.add(row.digest);
  }
  return [...found];
}

async function tagsOf(call: Call, repo: string, digests: readonly string[]): Promise<TagsAbove | undefined> {
  for (let at = 0; at < digests.length; at += CHUNK) {
    const tags = call.tx
      .selectFrom("tags")
      .where("parent", "=", repo)
      .where("digest", "in", digests.slice(at, at + CHUNK));
    const named = await tags.select(["name", "digest"]).orderBy("name").limit(MAX_NAMED).execute();
    if (named[0] === undefined) continue;
    const counted = await tags.select(({ fn }) => fn.countAll<number | string>().as("n")).executeTakeFirstOrThrow();
    return { tags: named.map(({ name }) => name), count: Number(counted.n), manifest: named[0].digest };
  }
  return undefined;
}
