import type { Call } from "../../core/call.ts";
import { policyOf } from "../../registry/index.ts";
import { RegistryError } from "../errors.ts";

/** A tag that its repo's policy protects or fixes, and the index it points to. */
export interface FixedTag {
  tag: string;
  kind: "protected" | "immutable";
  manifest: string;
}

// The number of digests in one statement: below every engine's limit of parameters.
const CHUNK = 500;
const TAG_PAGE = 1000;
// A manifest in more indexes than this is not deleted by digest while the repo's policy fixes any tag.
const MAX_VISITED = 100_000;

/**
 * A protected or immutable tag that points to an index which contains the manifest, in any nesting; undefined when
 * there is none. A tag that points to the manifest itself does not count. Such a tag promises an image that can be
 * pulled, so the manifests below it stay like the blobs of an image. Throws UNSUPPORTED 405 when too many indexes
 * contain the manifest to look at. Source: docs/tags.md.
 */
export async function fixedTagAbove(call: Call, repo: string, digest: string): Promise<FixedTag | undefined> {
  const { tag_policy: text } = await call.tx
    .selectFrom("repos")
    .select("tag_policy")
    .where("uid", "=", repo)
    .executeTakeFirstOrThrow();
  const { isProtected, isImmutable, protects, fixes } = policyOf(text);
  if (!protects && !fixes) return undefined;
  const kindOf = (tag: string): FixedTag["kind"] | undefined =>
    isProtected(tag) ? "protected" : isImmutable(tag) ? "immutable" : undefined;
  const visited = new Set([digest]);
  for (let level = [digest]; level.length > 0;) {
    const above = (await indexesOf(call, repo, level)).filter((index) => !visited.has(index));
    for (const index of above) visited.add(index);
    const found = await firstFixed(call, repo, above, kindOf);
    if (found !== undefined) return found;
    if (visited.size > MAX_VISITED)
      throw new RegistryError("UNSUPPORTED", `More than ${MAX_VISITED} indexes contain this manifest`);
    level = above;
  }
  return undefined;
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

async function firstFixed(
  call: Call,
  repo: string,
  digests: readonly string[],
  kindOf: (tag: string) => FixedTag["kind"] | undefined,
): Promise<FixedTag | undefined> {
  for (let at = 0; at < digests.length; at += CHUNK) {
    for (let after: string | undefined = ""; after !== undefined;) {
      const tags: { name: string; digest: string }[] = await call.tx
        .selectFrom("tags")
        .select(["name", "digest"])
        .where("parent", "=", repo)
        .where("digest", "in", digests.slice(at, at + CHUNK))
        .where("name", ">", after)
        .orderBy("name")
        .limit(TAG_PAGE)
        .execute();
      for (const { name, digest } of tags) {
        const kind = kindOf(name);
        if (kind !== undefined) return { tag: name, kind, manifest: digest };
      }
      after = tags.length < TAG_PAGE ? undefined : tags.at(-1)?.name;
    }
  }
  return undefined;
}
