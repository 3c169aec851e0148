import type { Database } from "@moorage/kernel/store";
import { historyRetentionMs } from "../../registry/index.ts";
import { pulledCuts } from "../../upstreams/index.ts";
import type { RepoRules } from "./reachability.ts";

/** The times that a collection depends on, in milliseconds. */
export interface CollectTimes {
  /** When it began, since 1970: nothing that happens later is judged. */
  nowMs: number;
  /** How long content stays after the last thing that needed it was removed. */
  graceMs: number;
  /** How long an upload may receive no bytes; until then its session counts as part of a push. */
  uploadTtlMs: number;
}

/** A repo that a collection examines. `policy` is its tag policy as JSON. */
export interface CollectedRepo {
  uid: string;
  policy: string | null;
  rules: RepoRules;
}

const REPO_PAGE = 100;

/** Reads all repos in the order of their uids, or the one with the uid `only`, page by page. */
export async function* collectedRepos(
  read: <T>(work: (tx: Database) => Promise<T>) => Promise<T>,
  times: CollectTimes,
  only?: string,
): AsyncGenerator<CollectedRepo> {
  for (let after = ""; ;) {
    const page = await read(async (tx) => {
      const all = tx.selectFrom("repos").select(["uid", "tag_policy"]).orderBy("uid").limit(REPO_PAGE);
      const rows = await (only === undefined ? all.where("uid", ">", after) : all.where("uid", "=", only)).execute();
      return withRules(tx, times, rows);
    });
    yield* page;
    if (only !== undefined || page.length < REPO_PAGE) return;
    after = page.at(-1)?.uid ?? "";
  }
}

/** One repo, which the collection of another repo needs to know. Undefined when it was deleted. */
export async function collectedRepo(
  tx: Database,
  times: CollectTimes,
  uid: string,
): Promise<CollectedRepo | undefined> {
  return (
    await withRules(
      tx,
      times,
      await tx.selectFrom("repos").select(["uid", "tag_policy"]).where("uid", "=", uid).execute(),
    )
  )[0];
}

async function withRules(
  tx: Database,
  times: CollectTimes,
  rows: { uid: string; tag_policy: string | null }[],
): Promise<CollectedRepo[]> {
  if (rows.length === 0) return [];
  // Sessions that begin after this read need no protection: the content that they build on is within its grace.
  const sessions = await tx
    .selectFrom("uploads")
    .select(({ fn }) => ["repo", fn.min("create_time").as("since")])
    .where(
      "repo",
      "in",
      rows.map(({ uid }) => uid),
    )
    .where("update_time", ">", times.nowMs - times.uploadTtlMs)
    .groupBy("repo")
    .execute();
  const pushing = new Map(sessions.map(({ repo, since }) => [repo, since]));
  const pulled = await pulledCuts(
    tx,
    rows.map(({ uid }) => uid),
    times.nowMs,
  );
  return rows.map(({ uid, tag_policy: policy }) => ({
    uid,
    policy,
    rules: { ...rulesOf(times, uid, policy, pushing.get(uid)), pulledCutMs: pulled.get(uid) },
  }));
}

/**
 * While a push is under way, grace is counted until the beginning of its first session instead of now, so that content
 * that the push may build on is not collected.
 */
function rulesOf(
  { nowMs, graceMs }: CollectTimes,
  repo: string,
  policy: string | null,
  pushingSinceMs = nowMs,
): RepoRules {
  return { repo, graceCutMs: Math.min(nowMs, pushingSinceMs) - graceMs, historyCutMs: historyCutOf(policy, nowMs) };
}

/** The `historyCutMs` of a tag policy, which may have changed since the rules were read. */
export function historyCutOf(policy: string | null, nowMs: number): number | undefined {
  const retentionMs = historyRetentionMs(policy);
  return Number.isFinite(retentionMs) ? Math.floor(nowMs - retentionMs) : undefined;
}
