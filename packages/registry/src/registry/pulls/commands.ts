import type { Call } from "@moorage/kernel/core/call";
import { command, type CommandOptions } from "@moorage/kernel/core/command";
import { processOfOtherSchema } from "@moorage/platform/processes";
import { statement } from "@moorage/kernel/store";
import { addPulls, setLastPulls } from "./add-pulls.ts";
import { coverageOfPulls } from "./coverage.ts";
import type { CountedPart } from "./parts.ts";
import { dayOf } from "@moorage/kernel/lib/days";

// The rows are sums, which any order of writes gives. What a crash of the database takes back, its next start counts
// as missing, since the process that wrote it crashed with it or goes on to say that it counts.
const OPTIONS = { isolation: "read committed" } as const satisfies CommandOptions;
const MAX_EXPIRED = 1_000;

/**
 * Adds what a process has counted, without what identities pulled that are not counted, and of repos that are gone.
 * Marks the days on which a process that crashed may have counted what it did not write.
 */
export const writePulls = command(
  "registry.writePulls",
  async (call: Call, { counter, pulls, last, lost, lostLast }: CountedPart): Promise<void> => {
    const { tx, nowMs, agreedMs } = call;
    const isAlike = lostLast || (await processOfOtherSchema(tx, agreedMs)) === undefined;
    await coverageOfPulls.note(tx, {
      counter,
      lost: lost.map(({ day, pulls: count }) => ({ day, count })),
      // Beside a process of an older version, which counts nothing, it is not known what is pulled.
      begins: lostLast ? "anew" : isAlike ? "where it has not" : "not",
      nowMs,
      agreedMs,
    });
    await addPulls(tx, pulls);
    await setLastPulls(tx, last);
  },
  OPTIONS,
);

/** Notes that a process has written all that it counted, and counts no more. */
export const endPullCounter = command(
  "registry.endPullCounter",
  async ({ tx }: Call, { counter }: { counter: string }): Promise<void> => {
    await coverageOfPulls.end(tx, counter);
  },
  OPTIONS,
);

/** Forgets since when pulls are counted: a process that does not count them serves. */
export const endPullCoverage = command(
  "registry.endPullCoverage",
  async ({ tx }: Call, _input: Record<string, never>): Promise<void> => {
    await coverageOfPulls.forget(tx);
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
    if (what === "pulls") await coverageOfPulls.shorten(tx, beforeMs);
    const removed = (await EXPIRING[what](tx, BY_TIME.has(what) ? beforeMs : dayOf(beforeMs))).length;
    return { removed, more: removed === MAX_EXPIRED };
  },
  OPTIONS,
);

export const pullCommands = [writePulls, endPullCounter, endPullCoverage, expireStatistics] as const;
