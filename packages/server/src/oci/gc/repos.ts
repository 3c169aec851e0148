import { historyRetentionMs } from "../../registry/index.ts";
import type { Database } from "../../store/index.ts";
import type { RepoRules } from "./reachability.ts";

/** What a collection goes by, in milliseconds. */
export interface CollectTimes {
  /** When it began: nothing that happens later is judged. */
  nowMs: number;
  /** How long content stays after the last thing that needed it went. */
  graceMs: number;
  /** How long an upload may lie without new bytes; its session is part of a push for so long. */
  uploadTtlMs: number;
}

/** A repo in a collection. */
export interface Place {
  uid: string;
  policy: string | null;
  rules: RepoRules;
}

const REPOS_AT_ONCE = 100;

/** All repos in the order of their uids, or one alone, page by page. */
export async function* placesOf(
  read: <T>(work: (tx: Database) => Promise<T>) => Promise<T>,
  times: CollectTimes,
  only?: string,
): AsyncGenerator<Place> {
  for (let after = ""; ;) {
    const page = await read(async (tx) => {
      const all = tx.selectFrom("repos").select(["uid", "tag_policy"]).orderBy("uid").limit(REPOS_AT_ONCE);
      const rows = await (only === undefined ? all.where("uid", ">", after) : all.where("uid", "=", only)).execute();
      return placed(tx, times, rows);
    });
    yield* page;
    if (only !== undefined || page.length < REPOS_AT_ONCE) return;
    after = page.at(-1)?.uid ?? "";
  }
}

/** A repo as another one's look at a blob needs it. Undefined: it is gone. */
export async function placeOf(tx: Database, times: CollectTimes, uid: string): Promise<Place | undefined> {
  return (
    await placed(tx, times, await tx.selectFrom("repos").select(["uid", "tag_policy"]).where("uid", "=", uid).execute())
  )[0];
}

async function placed(
  tx: Database,
  times: CollectTimes,
  rows: { uid: string; tag_policy: string | null }[],
): Promise<Place[]> {
  if (rows.length === 0) return [];
  // A session that begins after now protects nothing that is not young by now.
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
  return rows.map(({ uid, tag_policy: policy }) => ({
    uid,
    policy,
    rules: rulesOf(times, uid, policy, pushing.get(uid)),
  }));
}

/**
 * While a push is under way, time stands still for the grace of what it may have found in the repo: since its first
 * session began.
 */
function rulesOf(
  { nowMs, graceMs }: CollectTimes,
  repo: string,
  policy: string | null,
  pushingSinceMs = nowMs,
): RepoRules {
  return { repo, graceCutMs: Math.min(nowMs, pushingSinceMs) - graceMs, historyCutMs: historyCutOf(policy, nowMs) };
}

/** The same for a policy that may have changed since. */
export function historyCutOf(policy: string | null, nowMs: number): number | undefined {
  const retentionMs = historyRetentionMs(policy);
  return Number.isFinite(retentionMs) ? Math.floor(nowMs - retentionMs) : undefined;
}
