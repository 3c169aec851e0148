import { type Database, select } from "@moorage/kernel/store";
import { expiringTags, planRetention, policyOf } from "../../registry/index.ts";
import type { Collected, Collection } from "./collection.ts";
import { type CollectedRepo, collectedRepo } from "./repos.ts";
import { manifestsAfter, type RepoRules, unneededManifests } from "./reachability.ts";

// The dry run of a collection: it counts what would be removed. Where a collection checks whether a manifest still
// exists, this checks whether it would.

const MANIFEST_PAGE = 200;
const BLOB_PAGE = 50;
const REFERENCE_PAGE = 50;
const REPO_PAGE = 50;

/** The number of tags that the repo's retention rules would delete. */
export async function countExpiring(
  { transactor, data, signal }: Collection,
  { uid, policy: text }: CollectedRepo,
): Promise<number> {
  const policy = policyOf(text);
  if (policy.rules.length === 0) return 0;
  return await transactor.read(data, async ({ tx, nowMs }) => {
    let tags = 0;
    for await (const found of expiringTags(tx, uid, await planRetention(tx, uid, policy, nowMs), nowMs)) {
      signal.throwIfAborted();
      tags += found.length;
    }
    return tags;
  });
}

/**
 * The manifests and blobs that would be removed. A tag that retention would delete still holds its image here, since
 * the image would have its grace after that.
 */
export async function countRemovable(collection: Collection, repo: CollectedRepo): Promise<Omit<Collected, "tags">> {
  const { read } = collection;
  const { rules } = repo;
  const collected = { manifests: 0, blobs: 0, bytes: 0 };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    after = await read(async (tx) => {
      const page = await manifestsAfter(tx, rules, from, MANIFEST_PAGE);
      const unheld = page.filter(({ held }) => !held).map(({ digest }) => digest);
      const removable = new Set((await unneededManifests(tx, rules, unheld)).flat());
      collected.manifests += unheld.filter((digest) => removable.has(digest)).length;
      return page.length < MANIFEST_PAGE ? undefined : page.at(-1)?.digest;
    });
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    after = await read(async (tx) => {
      const page = await oldLinks(tx, rules, from);
      for (const { digest, old, size } of page) {
        if (!old || !(await wouldBeUnneeded(tx, rules, digest))) continue;
        collected.blobs += 1;
        if (await wouldBeFreed(tx, collection, repo, digest)) collected.bytes += size;
      }
      return page.length < BLOB_PAGE ? undefined : page.at(-1)?.digest;
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
    [repo, after, BLOB_PAGE],
  );
  return rows.map(({ digest, touch_time: touchMs, size }) => ({ digest, old: touchMs <= graceCutMs, size }));
}

/** Whether no manifest that refers to the blob would remain in the repo. */
async function wouldBeUnneeded(tx: Database, rules: RepoRules, digest: string): Promise<boolean> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: { digest: string }[] = await select(
      tx,
      "select digest from manifest_references where repo = ? and target = ? and digest > ? order by digest limit ?",
      [rules.repo, digest, after, REFERENCE_PAGE],
    );
    const digests = rows.map((row) => row.digest);
    const removable = new Set((await unneededManifests(tx, rules, digests)).flat());
    if (!digests.every((each) => removable.has(each))) return false;
    after = rows.length < REFERENCE_PAGE ? undefined : digests.at(-1);
  }
  return true;
}

/**
 * Whether no repo and no library would hold the blob after this one is collected. Repos are collected in the order of
 * their uids.
 */
async function wouldBeFreed(
  tx: Database,
  collection: Collection,
  { uid }: CollectedRepo,
  digest: string,
): Promise<boolean> {
  const file = await tx
    .selectFrom("artifact_files")
    .select("name")
    .where("digest", "=", digest)
    .limit(1)
    .executeTakeFirst();
  if (file !== undefined) return false;
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
      .limit(REPO_PAGE)
      .execute();
    if (others.length > 0 && collection.repo !== undefined) return false;
    for (const { repo, touch_time: touchMs } of others) {
      const rules = (await collectedRepo(tx, collection, repo))?.rules;
      if (rules === undefined || touchMs > rules.graceCutMs || !(await wouldBeUnneeded(tx, rules, digest)))
        return false;
    }
    after = others.length < REPO_PAGE ? undefined : others.at(-1)?.repo;
  }
  return true;
}
