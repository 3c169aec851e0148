import { listPulls, type PullGrouping } from "../../../api/gen/registry.ts";
import { listQuery, query } from "../../../api/queries.ts";

const DAY_MS = 86_400_000;
const PAGE_SIZE = 100;
const MAX_SUMS = 1_000;

/** How many days the page shows. */
export const DAYS = 30;

/** The days of UTC that the page shows, the oldest first, as the API names them. */
export function shownDays(nowMs: number): string[] {
  return Array.from({ length: DAYS }, (_, at) => new Date(nowMs - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10));
}

// The day, and not the time: the same question has the same answer, which is kept, for all of a day.
const sinceOf = (nowMs: number): string => `${shownDays(nowMs)[0]}T00:00:00Z`;

/** The pulls of an image by day, those of the last 30 days. */
export function pullsByDayQuery(repoUid: string, nowMs: number) {
  return query(listPulls, { repoUid, groupBy: ["PULL_GROUPING_DAY"], startTime: sinceOf(nowMs), pageSize: MAX_SUMS });
}

/** All pulls of an image that were counted, as one sum: the last of them. */
export function allPullsQuery(repoUid: string) {
  return query(listPulls, { repoUid, groupBy: ["PULL_GROUPING_REPO"], pageSize: 1 });
}

/** The pulls of those days by something else. */
export function pullsByQuery(repoUid: string, grouping: PullGrouping, nowMs: number) {
  return listQuery(listPulls, { repoUid, groupBy: [grouping], startTime: sinceOf(nowMs), pageSize: PAGE_SIZE });
}

/** The pulls of those days of some images, a sum each. */
export function pullsOfReposQuery(repoUids: readonly string[], nowMs: number) {
  const groupBy: PullGrouping[] = ["PULL_GROUPING_REPO"];
  return query(listPulls, { repoUids: [...repoUids], groupBy, startTime: sinceOf(nowMs), pageSize: MAX_SUMS });
}

/** The pulls of those days of the tags of an image, a sum each: of the first thousand that were pulled. */
export function pullsOfTagsQuery(repoUid: string, nowMs: number) {
  return query(listPulls, { repoUid, groupBy: ["PULL_GROUPING_TAG"], startTime: sinceOf(nowMs), pageSize: MAX_SUMS });
}
