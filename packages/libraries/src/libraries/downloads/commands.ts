import type { Call } from "@moorage/kernel/core/call";
import { command, type CommandOptions } from "@moorage/kernel/core/command";
import { dayOf } from "@moorage/kernel/lib/days";
import { statement } from "@moorage/kernel/store";
import { type CoverageKeeper, coverageIn } from "@moorage/kernel/work";
import { processOfOtherSchema } from "@moorage/platform/processes";
import { type DownloadPart, NONE } from "./parts.ts";

// The rows are sums, which any order of writes gives, as those of pulls.
const OPTIONS = { isolation: "read committed" } as const satisfies CommandOptions;
const MAX_EXPIRED = 1_000;

/** Keeps what the statistics of downloads cover. */
export const coverageOfDownloads: CoverageKeeper = coverageIn({
  coverage: "download_coverage",
  counters: "download_counters",
  gaps: "download_gaps",
  lost: "downloads",
});

// Not of versions that are gone, nor by identities whose downloads are not counted. A version counts for its library,
// too.
const COUNTED = `with one as (
    select j.value ->> 'artifact' as artifact, j.value ->> 'version' as version, cast(j.value ->> 'day' as bigint) as day,
      cast(j.value ->> 'count' as bigint) as count, cast(j.value ->> 'lastMs' as bigint) as time
    from json_each(?) as j
    where exists (select 1 from artifact_versions as v where v.uid = j.value ->> 'version')
      and not exists (select 1 from identities as i where i.uid = j.value ->> 'identity' and i.uncounted = 1)
  ), sums as (
    select version as item, artifact, day, count, time from one
    union all select artifact as item, '' as artifact, day, count, time from one
  )`;
// Two processes that write the same rows do it in one order, so that they wait for each other and do not lock each
// other.
const addDays = statement(
  `insert into download_days (item, day, count)
  ${COUNTED} select item, day, cast(sum(count) as bigint) from sums where true group by item, day order by item, day
  on conflict (item, day) do update set count = download_days.count + excluded.count`,
);
const putLast = statement(
  `insert into last_downloads (item, artifact, time)
  ${COUNTED} select item, artifact, max(time) from sums where true group by item, artifact order by item
  on conflict (item) do update set
    time = case when excluded.time > last_downloads.time then excluded.time else last_downloads.time end`,
);

/** Adds what a process has counted, and notes what it lost, and the days of those that crashed. */
export const writeDownloads = command(
  "libraries.writeDownloads",
  async ({ tx, nowMs, agreedMs }: Call, { counter, downloads, lost }: DownloadPart): Promise<void> => {
    // Beside a process of an older version, which counts nothing, it is not known what is downloaded.
    const isAlike = (await processOfOtherSchema(tx, agreedMs)) === undefined;
    const begins = isAlike ? "where it has not" : "not";
    await coverageOfDownloads.note(tx, { counter, lost, begins, nowMs, agreedMs });
    if (downloads === NONE) return;
    await addDays(tx, downloads);
    await putLast(tx, downloads);
  },
  OPTIONS,
);

/** Notes that a process has written all that it counted, and counts no more. */
export const endDownloadCounter = command(
  "libraries.endDownloadCounter",
  ({ tx }: Call, { counter }: { counter: string }): Promise<void> => coverageOfDownloads.end(tx, counter),
  OPTIONS,
);

/** Forgets since when downloads are counted: a process that does not count them serves. */
export const endDownloadCoverage = command(
  "libraries.endDownloadCoverage",
  ({ tx }: Call, _input: Record<string, never>): Promise<void> => coverageOfDownloads.forget(tx),
  OPTIONS,
);

const EXPIRING = {
  downloads: statement<{ item: string }>(
    `delete from download_days where (item, day) in
      (select item, day from download_days where day < ? order by day limit ${MAX_EXPIRED}) returning item`,
  ),
  last: statement<{ item: string }>(
    `delete from last_downloads where item in
      (select item from last_downloads where time < ? order by time limit ${MAX_EXPIRED}) returning item`,
  ),
  gaps: statement<{ item: string }>("delete from download_gaps where day < ? returning day"),
} as const;

/** What of the statistics goes when it is old. */
export type ExpiringDownloads = keyof typeof EXPIRING;
export const EXPIRING_DOWNLOADS = Object.keys(EXPIRING) as ExpiringDownloads[];

/** Removes statistics from before the time, in milliseconds since 1970. `more`: whether there may be more. */
export const expireDownloads = command(
  "libraries.expireDownloads",
  async (
    { tx }: Call,
    { what, beforeMs }: { what: ExpiringDownloads; beforeMs: number },
  ): Promise<{ removed: number; more: boolean }> => {
    // Of before there is nothing left: it is not known again.
    if (what === "downloads") await coverageOfDownloads.shorten(tx, beforeMs);
    const removed = (await EXPIRING[what](tx, what === "last" ? beforeMs : dayOf(beforeMs))).length;
    return { removed, more: removed === MAX_EXPIRED };
  },
  OPTIONS,
);

export const downloadCommands = [writeDownloads, endDownloadCounter, endDownloadCoverage, expireDownloads] as const;
