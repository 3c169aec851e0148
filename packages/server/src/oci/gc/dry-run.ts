import { expiringTags, planRetention, policyOf } from "../../registry/index.ts";
import { type Database, select } from "../../store/index.ts";
import type { Collected, Collection } from "./collect.ts";
import { type Place, placeOf } from "./repos.ts";
import { manifestsAfter, type RepoRules, unneededManifests } from "./reachability.ts";

// What a collection would do, found out without doing it: where it looks whether a manifest is still there, this looks
// whether it would be.

const MANIFESTS_A_LOOK = 200;
const BLOBS_A_LOOK = 50;
const REFERENCES_AT_ONCE = 50;
const REPOS_AT_ONCE = 50;

/** How many tags the repo's retention rules would delete. */
export async function wouldExpire(
  { transactor, data, signal }: Collection,
  { uid, policy: text }: Place,
): Promise<number> {
  const policy = policyOf(text);
  if (policy.rules.length === 0) return 0;
  return await transactor.read(data, async ({ tx, nowMs }) => {
    let tags = 0;
    for await (const found of expiringTags(tx, uid, await planRetention(tx, uid, policy, nowMs))) {
      signal.throwIfAborted();
      tags += found.length;
    }
    return tags;
  });
}

/**
 * The manifests and blobs that would go. A tag that retention would delete still counts as a reason: in its place there
 * would be the grace.
 */
export async function wouldGo(collection: Collection, place: Place): Promise<Omit<Collected, "tags">> {
  const { look } = collection;
  const { rules } = place;
  const collected = { manifests: 0, blobs: 0, bytes: 0 };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    after = await look(async (tx) => {
      const page = await manifestsAfter(tx, rules, from, MANIFESTS_A_LOOK);
      const unheld = page.filter(({ held }) => !held).map(({ digest }) => digest);
      const going = new Set((await unneededManifests(tx, rules, unheld)).flat());
      collected.manifests += unheld.filter((digest) => going.has(digest)).length;
      return page.length < MANIFESTS_A_LOOK ? undefined : page.at(-1)?.digest;
    });
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    after = await look(async (tx) => {
      const page = await oldLinks(tx, rules, from);
      for (const { digest, old, size } of page) {
        if (!old || !(await wouldBeUnneeded(tx, rules, digest))) continue;
        collected.blobs += 1;
        if (await wouldBeFreed(tx, collection, place, digest)) collected.bytes += size;
      }
      return page.length < BLOBS_A_LOOK ? undefined : page.at(-1)?.digest;
    });
  }
  return collected;
}

async function oldLinks(
  tx: Database,
  { repo, graceCutMs }: RepoRules,
  after: string,
): Promise<{ digest: string; old: boolean; size: number }[]> {
  const rows = await select<{ digest: string; touch_time: number; size: number }>(
    tx,
    `
    select l.digest, l.touch_time, coalesce((select b.size from blobs as b where b.digest = l.digest), 0) as size
    from repo_blobs as l where l.repo = ? and l.digest > ? order by l.digest limit ?`,
    [repo, after, BLOBS_A_LOOK],
  );
  return rows.map(({ digest, touch_time: touchMs, size }) => ({ digest, old: touchMs <= graceCutMs, size }));
}

/** Whether no manifest would be left in the repo that refers to it. */
async function wouldBeUnneeded(tx: Database, rules: RepoRules, digest: string): Promise<boolean> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: { digest: string }[] = await select(
      tx,
      "select digest from manifest_references where repo = ? and target = ? and digest > ? order by digest limit ?",
      [rules.repo, digest, after, REFERENCES_AT_ONCE],
    );
    const digests = rows.map((row) => row.digest);
    const going = new Set((await unneededManifests(tx, rules, digests)).flat());
    if (!digests.every((each) => going.has(each))) return false;
    after = rows.length < REFERENCES_AT_ONCE ? undefined : digests.at(-1);
  }
  return true;
}

/** Whether this repo would be the last one that lets go of it. Repos come in the order of their uids. */
async function wouldBeFreed(tx: Database, collection: Collection, { uid }: Place, digest: string): Promise<boolean> {
  const later = await tx
    .selectFrom("repo_blobs")
    .select("repo")
    .where("digest", "=", digest)
    .where("repo", ">", uid)
    .limit(1)
    .executeTakeFirst();
  if (later !== undefined) return false;
  for (let after: string | undefined = ""; after !== undefined;) {
    const others = await tx
      .selectFrom("repo_blobs")
      .select(["repo", "touch_time"])
      .where("digest", "=", digest)
      .where("repo", ">", after)
      .where("repo", "<", uid)
      .orderBy("repo")
      .limit(REPOS_AT_ONCE)
      .execute();
    if (others.length > 0 && collection.repo !== undefined) return false;
    for (const { repo, touch_time: touchMs } of others) {
      const rules = (await placeOf(tx, collection, repo))?.rules;
      if (rules === undefined || touchMs > rules.graceCutMs || !(await wouldBeUnneeded(tx, rules, digest)))
        return false;
    }
    after = others.length < REPOS_AT_ONCE ? undefined : others.at(-1)?.repo;
  }
  return true;
}
