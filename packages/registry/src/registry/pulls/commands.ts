import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import { command, type CommandOptions } from "@moorage/kernel/core/command";
import { processOfOtherSchema } from "@moorage/platform/processes";
import { type Database, statement } from "@moorage/kernel/store";
import type { CountedPart, CountedPulls, LastPull } from "./parts.ts";
import { dayOf, startOf } from "./days.ts";

// The rows are sums, which any order of writes gives. What a crash of the database takes back, its next start counts
// as missing, since the process that wrote it crashed with it or goes on to say that it counts.
const OPTIONS = { isolation: "read committed" } as const satisfies CommandOptions;
// A process that counts says so every minute.
const HOLD_MS = 180_000;
const MAX_GAP_DAYS = 400;
const MINUTE_MS = 60_000;
const MAX_EXPIRED = 1_000;

const startCoverage = statement("insert into pull_coverage (id, since) values (1, ?) on conflict (id) do nothing");
const restartCoverage = statement(
  "insert into pull_coverage (id, since) values (1, ?) on conflict (id) do update set since = excluded.since",
);
const shortenCoverage = statement("update pull_coverage set since = ? where since < ?");
const addGap = statement(
  "insert into pull_gaps (day, pulls) values (?, ?) on conflict (day) do update set pulls = pull_gaps.pulls + excluded.pulls",
);
const renewCounter = statement(
  "insert into pull_counters (id, time, until_time) values (?, ?, ?) on conflict (id) do update set time = excluded.time, until_time = excluded.until_time",
);
const takeCrashed = statement<{ time: number }>(
  "delete from pull_counters where until_time < ? and id <> ? returning time",
);
const setPullTimeByName = statement(
  "update tags set last_pull_time = ? where parent = ? and name = ? and coalesce(last_pull_time, 0) < ?",
);
const setPullTimeByDigest = statement(
  `update tags set last_pull_time = ? where parent = ? and (digest = ? or digest in
    (select r.digest from manifest_references as r where r.repo = ? and r.target = ? and r.kind = 'manifest'))
    and coalesce(last_pull_time, 0) < ?`,
);

/**
 * Adds what a process has counted, without what identities pulled that are not counted, and of repos that are gone.
 * Marks the days on which a process that crashed may have counted what it did not write.
 */
export const writePulls = command(
  "registry.writePulls",
  async (call: Call, { counter, pulls, last, lost, lostLast }: CountedPart): Promise<void> => {
    const { tx, nowMs, agreedMs } = call;
    await noteCrashes(tx, counter, nowMs, agreedMs);
    for (const { day, pulls: count } of lost) await addGap(tx, day, count);
    if (lostLast) await restartCoverage(tx, nowMs);
    // Beside a process of an older version, which counts nothing, it is not known what is pulled.
    else if ((await processOfOtherSchema(tx, agreedMs)) === undefined) await startCoverage(tx, nowMs);
    const uncounted = await uncountedOf(tx, [...pulls, ...last]);
    const repos = await reposOf(tx, [...pulls, ...last]);
    const isCounted = ({ identity, repo }: { identity: string; repo: string }): boolean =>
      !uncounted.has(identity) && repos.has(repo);
    await addPulls(tx, pulls.filter(isCounted));
    await setLastPulls(tx, last.filter(isCounted));
    await renewCounter(tx, counter, nowMs, agreedMs + HOLD_MS);
  },
  OPTIONS,
);

/** Notes that a process has written all that it counted, and counts no more. */
export const endPullCounter = command(
  "registry.endPullCounter",
  async ({ tx }: Call, { counter }: { counter: string }): Promise<void> => {
    await tx.deleteFrom("pull_counters").where("id", "=", counter).execute();
  },
  OPTIONS,
);

/** Forgets since when pulls are counted: a process that does not count them serves. */
export const endPullCoverage = command(
  "registry.endPullCoverage",
  async ({ tx }: Call, _input: Record<string, never>): Promise<void> => {
    await tx.deleteFrom("pull_coverage").execute();
  },
  OPTIONS,
);

const EXPIRING = {
  pulls: statement<{ repo: string }>(
    `delete from pull_days where (repo, day, digest, tag, identity) in
      (select repo, day, digest, tag, identity from pull_days where day < ? order by day limit ${MAX_EXPIRED}) returning repo`,
  ),
  last: statement<{ repo: string }>(
    `delete from last_pulls where (repo, digest) in
      (select repo, digest from last_pulls where time < ? order by time limit ${MAX_EXPIRED}) returning repo`,
  ),
  running: statement<{ repo: string }>(
    `delete from running_images where (repo, digest, source) in
      (select repo, digest, source from running_images where time < ? order by time limit ${MAX_EXPIRED}) returning repo`,
  ),
  gaps: statement<{ day: number }>("delete from pull_gaps where day < ? returning day"),
  usage: statement<{ grp: string }>(
    `delete from usage_days where (grp, day) in
      (select grp, day from usage_days where day < ? order by day limit ${MAX_EXPIRED}) returning grp`,
  ),
} as const;
const BY_TIME: ReadonlySet<string> = new Set(["last", "running"]);

/** What of the statistics goes when it is old. */
export type ExpiringStatistics = keyof typeof EXPIRING;
export const EXPIRING_STATISTICS = Object.keys(EXPIRING) as ExpiringStatistics[];

/** Removes statistics from before the time, in milliseconds since 1970. `more`: whether there may be more. */
export const expireStatistics = command(
  "registry.expireStatistics",
  async (
    { tx }: Call,
    { what, beforeMs }: { what: ExpiringStatistics; beforeMs: number },
  ): Promise<{ removed: number; more: boolean }> => {
    // Of before there is nothing left: it is not known again.
    if (what === "pulls") await shortenCoverage(tx, startOf(dayOf(beforeMs)), startOf(dayOf(beforeMs)));
    const removed = (await EXPIRING[what](tx, BY_TIME.has(what) ? beforeMs : dayOf(beforeMs))).length;
    return { removed, more: removed === MAX_EXPIRED };
  },
  OPTIONS,
);

async function noteCrashes(tx: Database, counter: string, nowMs: number, agreedMs: number): Promise<void> {
  for (const { time } of await takeCrashed(tx, agreedMs, counter)) {
    const last = dayOf(nowMs);
    for (let day = Math.max(dayOf(Number(time)), last - MAX_GAP_DAYS); day <= last; day += 1) await addGap(tx, day, 0);
  }
}

async function uncountedOf(tx: Database, pulls: readonly { identity: string }[]): Promise<ReadonlySet<string>> {
  const identities = [...new Set(pulls.map(({ identity }) => identity))].filter((identity) => identity !== "");
  if (identities.length === 0) return new Set();
  const rows = await tx
    .selectFrom("identities")
    .select("uid")
    .where("uid", "in", identities)
    .where("uncounted", "=", 1)
    .execute();
  return new Set(rows.map(({ uid }) => uid));
}

async function reposOf(tx: Database, pulls: readonly { repo: string }[]): Promise<ReadonlySet<string>> {
  const uids = [...new Set(pulls.map(({ repo }) => repo))];
  if (uids.length === 0) return new Set();
  const rows = await tx.selectFrom("repos").select("uid").where("uid", "in", uids).execute();
  return new Set(rows.map(({ uid }) => uid));
}

async function addPulls(tx: Database, pulls: readonly CountedPulls[]): Promise<void> {
  if (pulls.length === 0) return;
  await tx
    .insertInto("pull_days")
    .values(pulls.map(({ firstMs, lastMs, ...each }) => ({ ...each, first_time: firstMs, last_time: lastMs })))
    .onConflict((conflict) =>
      conflict.columns(["repo", "day", "digest", "tag", "identity"]).doUpdateSet({
        count: sql`pull_days.count + excluded.count`,
        bytes: sql`pull_days.bytes + excluded.bytes`,
        first_time: sql`case when excluded.first_time < pull_days.first_time then excluded.first_time else pull_days.first_time end`,
        last_time: sql`case when excluded.last_time > pull_days.last_time then excluded.last_time else pull_days.last_time end`,
      }),
    )
    .execute();
}

async function setLastPulls(tx: Database, pulls: readonly LastPull[]): Promise<void> {
  const latest = new Map<string, LastPull>();
  for (const pull of pulls) {
    const key = `${pull.repo} ${pull.digest}`;
    if ((latest.get(key)?.timeMs ?? -Infinity) < pull.timeMs) latest.set(key, pull);
  }
  if (latest.size === 0) return;
  await tx
    .insertInto("last_pulls")
    .values(
      [...latest.values()].map(({ repo, digest, timeMs, identity }) => ({ repo, digest, time: timeMs, identity })),
    )
    .onConflict((conflict) =>
      conflict.columns(["repo", "digest"]).doUpdateSet({
        identity: sql`case when excluded.time > last_pulls.time then excluded.identity else last_pulls.identity end`,
        time: sql`case when excluded.time > last_pulls.time then excluded.time else last_pulls.time end`,
      }),
    )
    .execute();
  for (const { repo, tag, timeMs } of pulls)
    if (tag !== "") await setPullTimeByName(tx, timeMs, repo, tag, timeMs - MINUTE_MS);
  for (const { repo, digest, timeMs } of latest.values())
    await setPullTimeByDigest(tx, timeMs, repo, digest, repo, digest, timeMs - MINUTE_MS);
}

export const pullCommands = [writePulls, endPullCounter, endPullCoverage, expireStatistics] as const;
