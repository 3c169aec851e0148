import type { ListDownloadsResponse } from "../../api/gen/libraries.ts";
import { relativeTime } from "../../lib/time.ts";
import type { PullsSeen } from "../registry/pulls/pull-words.ts";

type Downloads = Pick<
  ListDownloadsResponse,
  "downloads" | "coverage" | "nextPageToken" | "leftOutUids" | "uncountedUids"
>;

/**
 * What an answer says of one package or version. A missing row is a 0 only where all downloads of those days were
 * counted, the answer would have it, and its files count. The last download is of all time.
 */
export function seenDownloads(answer: Downloads, uid: string, isWholeTime: boolean): PullsSeen {
  const { downloads, coverage, nextPageToken, leftOutUids, uncountedUids } = answer;
  if (coverage?.since === undefined) return { why: "Downloads are not counted here" };
  if (leftOutUids.includes(uid)) return { why: "You may not list its downloads, or it is gone" };
  if (uncountedUids.includes(uid)) return { why: "Its files came before it was noted whether they count" };
  const found = downloads.find((each) => each.uid === uid);
  const why = `Counted only since ${relativeTime(coverage.since, Date.now())}, or not on all days`;
  if (found === undefined) {
    if (nextPageToken !== "") return { why: "There are more than are read" };
    return isWholeTime ? { count: 0 } : { why };
  }
  const count = Number(found.count);
  const last = found.lastTime !== undefined && { lastTime: found.lastTime };
  if (isWholeTime) return { count, ...last };
  // At least none says nothing.
  return count === 0 ? { why, ...last } : { count, isAtLeast: true, why, ...last };
}
