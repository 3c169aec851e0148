import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type StaleFeed, staleAt, staleFeeds } from "../coverage/stale-feeds.ts";
import { stateOfImages } from "../coverage/index-knowledge.ts";
import type { Severity } from "../records/severities.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";
import { DAY_MS, type Days, dayOf, tagDays, type TagName } from "../resolved/days.ts";
import { changesOf } from "./changes.ts";
import { imageBytes, openFindings } from "./image-report.ts";

/** The vulnerabilities that the image of a tag had at the end of a day in UTC. */
export interface DayCount {
  /** The beginning of the day, in milliseconds since 1970. */
  dayMs: number;
  /** The severity of each vulnerability, by its id. */
  severities: ReadonlyMap<string, Severity>;
  /** See imageBytes. */
  bytes: number;
  /** What is known of the image now, and why not all is; see stateOfImages. */
  state: string;
  reason: string;
  /** The feeds that it rests on and that were older than their own interval when the day ended. */
  stale: readonly StaleFeed[];
}

type Caller = Pick<Call, "tx" | "nowMs" | "requireCaller" | "weigh">;

/** How counts are made. */
export interface CountOptions {
  /** Each day has also what the days before had, from the first one on. */
  isCumulative: boolean;
  /** See feedChanges. */
  feedTimes: readonly number[];
}

/**
 * The vulnerabilities of the digest that the tag pointed to at the end of each of the days, as they were known then.
 * Days are in their order; those on which the tag was not there, or it is not known what the image held, are left out,
 * as are days to come. Checks no rights: the caller of this function does.
 */
export async function countsOfTag(
  call: Caller,
  { repo, tag }: TagName,
  { firstMs, lastMs }: Days,
  { isCumulative, feedTimes }: CountOptions,
): Promise<DayCount[]> {
  const days = { firstMs, lastMs: Math.min(lastMs, dayOf(call.nowMs)) };
  const digests = await digestsOf(call, { repo, tag }, days);
  const known: KnownVulnerabilities = new Map();
  const images = new Map<string, Image>();
  const turn = createTurns();
  const counts: DayCount[] = [];
  let before: ReadonlyMap<string, Severity> = new Map();
  for (const [dayMs, digest] of digests) {
    const image = images.get(digest) ?? (await imageOf(call, repo, digest));
    images.set(digest, image);
    const atMs = Math.min(dayMs + DAY_MS - 1, call.nowMs);
    const { last } = image;
    const isBetween = (ms: number): boolean => last !== undefined && ms > last.atMs && ms <= atMs;
    if (last === undefined || image.changes.some(isBetween) || feedTimes.some(isBetween)) {
      const found = await openFindings(call, { repo, digest, atMs }, known);
      const severities = new Map(found?.findings.map(({ vulnerability: { id, severity } }) => [id, severity]));
      image.last = { atMs, ...(found !== undefined && { severities }) };
    }
    await turn();
    const severities = image.last?.severities;
    if (severities === undefined) continue;
    before = isCumulative ? new Map([...before, ...severities]) : severities;
    const { bytes, state, reason } = image;
    counts.push({ dayMs, severities: before, bytes, state, reason, stale: staleAt(image.stale, atMs) });
  }
  return counts;
}

/** An image whose vulnerabilities are read on several days. */
interface Image {
  bytes: number;
  state: string;
  reason: string;
  stale: readonly StaleFeed[];
  /** When they may have changed, in milliseconds since 1970. */
  changes: readonly number[];
  /** As they were read last; without `severities` when it was not known what the image holds. */
  last?: { atMs: number; severities?: ReadonlyMap<string, Severity> };
}

async function imageOf({ tx, nowMs }: Caller, repo: string, digest: string): Promise<Image> {
  const { state, reason, spaces } = await stateOfImages(tx, { repo, digest });
  const stale = await staleFeeds(tx, nowMs, { spaces });
  return {
    state,
    reason,
    stale,
    bytes: await imageBytes(tx, repo, digest),
    changes: await changesOf(tx, repo, digest),
  };
}

/** Of a tag that never was there are none. */
async function digestsOf(call: Caller, tag: TagName, days: Days): Promise<ReadonlyMap<number, string>> {
  try {
    return (await tagDays(call.tx, tag, days)).digests;
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.NotFound) return new Map();
    throw error;
  }
}
