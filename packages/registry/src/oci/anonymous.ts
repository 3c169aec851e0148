import type { Config } from "@moorage/kernel/config";
import type { Call } from "@moorage/kernel/core/call";
import { isSighted, sightedAbove } from "../upstreams/index.ts";

/** The settings that make images readable without a log-in. */
export type PublicSettings = Pick<Config, "publicOrganization" | "freeTierTags">;

/**
 * The content a request names: a tag (its manifest or its history), or a manifest, blob or list of referrers by digest.
 */
export type PublicReference = { tag: string } | { digest: string };

// The number of digests in one statement: below every engine's limit of parameters.
const CHUNK = 500;
// A digest with more manifests above it than this is treated as not public.
const MAX_VISITED = 100_000;

/**
 * Whether an anonymous caller may read the tag or digest in the repo: the repo is in the public organization, and the
 * tag is one of the free-tier tags, or the digest is one that a free-tier tag has ever pointed to, is referenced from
 * such a digest, or belongs to a referrer of one of these. What was seen so at a registry that a group stands for
 * counts before it has been copied. Source: docs/contract.md, "Public organization".
 */
export async function publicMay(
  call: Call,
  settings: PublicSettings,
  repoUid: string,
  reference: PublicReference,
): Promise<boolean> {
  if (settings.freeTierTags.length === 0 || !(await isPublicRepo(call, settings, repoUid))) return false;
  if ("tag" in reference) return settings.freeTierTags.includes(reference.tag);
  const visited = new Set([reference.digest]);
  let level = [reference.digest];
  while (level.length > 0 && visited.size <= MAX_VISITED) {
    const above: string[] = [];
    for (let at = 0; at < level.length; at += CHUNK) {
      const digests = level.slice(at, at + CHUNK);
      if (await wasFreeTier(call, settings, repoUid, digests)) return true;
      above.push(...(await parentsOf(call, repoUid, digests)));
    }
    level = [...new Set(above)].filter((digest) => !visited.has(digest));
    for (const digest of level) visited.add(digest);
  }
  return false;
}

/**
 * Whether an anonymous caller may have the tag or digest come to the group of the public organization that stands for
 * another registry: one of the free-tier tags.
 */
export async function publicMayCome(
  call: Call,
  settings: PublicSettings,
  group: string,
  reference: PublicReference,
): Promise<boolean> {
  const isFree = "tag" in reference && settings.freeTierTags.includes(reference.tag);
  return isFree && (await isPublicRepo(call, settings, group));
}

async function isPublicRepo(call: Call, settings: PublicSettings, repoUid: string): Promise<boolean> {
  const root = repoUid.split("/", 1)[0] ?? "";
  const found = await call.tx
    .selectFrom("groups")
    .select("uid")
    .where("uid", "=", root)
    .where("parent", "=", "")
    .where("name", "=", settings.publicOrganization)
    .executeTakeFirst();
  return found !== undefined;
}

async function wasFreeTier(call: Call, settings: PublicSettings, repo: string, digests: string[]): Promise<boolean> {
  const found = await call.tx
    .selectFrom("tag_history")
    .select("digest")
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .where("tag", "in", settings.freeTierTags)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined || (await isSighted(call.tx, repo, settings.freeTierTags, digests));
}

/** The manifests that refer to these digests, and the subjects of those that are referrers. */
async function parentsOf(call: Call, repo: string, digests: string[]): Promise<string[]> {
  const needing = await call.tx
    .selectFrom("manifest_references")
    .select("digest")
    .where("repo", "=", repo)
    .where("target", "in", digests)
    .execute();
  const subjects = await call.tx
    .selectFrom("manifests")
    .select("subject")
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .where("subject", "!=", "")
    .execute();
  const seen = await sightedAbove(call.tx, repo, digests);
  return [...needing.map(({ digest }) => digest), ...subjects.map(({ subject }) => subject), ...seen];
}
