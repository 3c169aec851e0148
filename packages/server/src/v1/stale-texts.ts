import { durationMs } from "@bufbuild/protobuf/wkt";
import type { StaleFeed } from "@moorage/api/messages";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { staleText } from "@moorage/security/security";

/** Feeds that are older than their own interval, each as a text with when it was last read: v1 has no message. */
export function staleTexts(feeds: readonly StaleFeed[]): string[] {
  return feeds.map(staleTextOf);
}

/** One of them. */
export function staleTextOf({ feed, successTime, interval }: StaleFeed): string {
  return staleText({
    feed,
    successMs: successTime === undefined ? null : milliseconds(successTime),
    intervalMs: interval === undefined ? 0 : durationMs(interval),
  });
}
