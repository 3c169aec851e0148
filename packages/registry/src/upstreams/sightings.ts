import type { Database } from "@moorage/kernel/store";

/** Whether one of these tags was seen at the registry to point to one of these digests. */
export async function isSighted(tx: Database, repo: string, tags: string[], digests: string[]): Promise<boolean> {
  const found = await tx
    .selectFrom("upstream_sightings")
    .select("digest")
    .where("repo", "=", repo)
    .where("tag", "in", tags)
    .where("digest", "in", digests)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The last digest that a tag was seen to come to point to at the registry; undefined when it was not seen. */
export async function lastSighted(tx: Database, repo: string, tag: string): Promise<string | undefined> {
  const found = await tx
    .selectFrom("upstream_sightings")
    .select("digest")
    .where("repo", "=", repo)
    .where("tag", "=", tag)
    .orderBy("seen_time", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.digest;
}

/** The digests of which these were seen at the registry to be parts, or to which they were seen to refer. */
export async function sightedAbove(tx: Database, repo: string, digests: string[]): Promise<string[]> {
  const rows = await tx
    .selectFrom("upstream_digests")
    .select("parent")
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .where("parent", "!=", "")
    .execute();
  return rows.map(({ parent }) => parent);
}
