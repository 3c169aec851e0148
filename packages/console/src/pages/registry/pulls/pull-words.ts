import type { ListPullsResponse } from "../../../api/gen/registry.ts";
import { count } from "../../../lib/bytes.ts";
import { relativeTime } from "../../../lib/time.ts";
import { dayBars, isWhole } from "./pull-days.ts";

type Pulls = Pick<ListPullsResponse, "pulls" | "coverage" | "nextPageToken" | "leftOutRepoUids">;

/** What is known of the pulls of a row. */
export interface PullsSeen {
  /** How often in those days; undefined where it is not known. */
  count?: number;
  /** Whether more may have been than were counted. */
  isAtLeast?: boolean;
  /** The last of them; undefined without one. */
  lastTime?: string;
  /** Why it is not known, or not exactly. */
  why?: string;
}

/** Whether of all of the days all pulls were counted. */
export function isDaysWhole({ coverage }: Pick<Pulls, "coverage">, days: readonly string[]): boolean {
  return isWhole(dayBars(days, [], coverage));
}

/**
 * What an answer says of one repo or tag. A missing row is a 0 only where all pulls of those days were counted, and the
 * answer would have it.
 */
export function seenPulls(
  { pulls, coverage, nextPageToken, leftOutRepoUids }: Pulls,
  by: "repoUid" | "tag",
  key: string,
  isWholeTime: boolean,
): PullsSeen {
  if (coverage?.since === undefined) return { why: "Pulls are not counted here" };
  if (leftOutRepoUids.includes(key)) return { why: "You may not list pulls of this image" };
  const found = pulls.find((each) => each[by] === key);
  const why = `Counted only since ${relativeTime(coverage.since, Date.now())}, or not on all days`;
  if (found === undefined) {
    const last = pulls.at(-1)?.[by];
    if (nextPageToken !== "" && last !== undefined && key > last) return { why: "There are more than are read" };
    return isWholeTime ? { count: 0 } : { why };
  }
  return {
    count: Number(found.count),
    ...(found.lastTime !== undefined && { lastTime: found.lastTime }),
    ...(!isWholeTime && { isAtLeast: true, why }),
  };
}

/** As it stands in a list: a dash where it is not known, and why under the pointer. */
export function pullWords(seen: PullsSeen | undefined): { text: string; title: string | undefined } {
  if (seen === undefined) return { text: "…", title: undefined };
  if (seen.count === undefined) return { text: "–", title: seen.why };
  return { text: `${count(seen.count)}${seen.isAtLeast === true ? "+" : ""}`, title: seen.why };
}

/** What is known of the pulls by several names together: not known where it is not of one of them. */
export function sumOfPulls(all: readonly (PullsSeen | undefined)[]): PullsSeen | undefined {
  let sum: PullsSeen = { count: 0 };
  for (const each of all) {
    if (each === undefined) return undefined;
    const isKnown = sum.count !== undefined && each.count !== undefined;
    // What some names were pulled is the least that all were.
    const count = (sum.count ?? 0) + (each.count ?? 0);
    const why = each.why ?? sum.why;
    sum = {
      ...((isKnown || count > 0) && { count }),
      ...((sum.isAtLeast || each.isAtLeast || !isKnown) && { isAtLeast: true }),
      ...(why !== undefined && { why }),
    };
  }
  return sum;
}
