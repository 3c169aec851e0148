import type { StaleFeed } from "@moorage/api/messages";
import { z } from "zod";
import { timeText } from "./shared-schemas.ts";

/** Feeds that are older than their own interval, beside every answer that rests on them. */
export const STALE_FEEDS = z
  .array(z.object({ feed: z.string(), last_read: z.string() }))
  .describe("Feeds that the answer rests on and that are older than their own interval.");

/** The feeds as tools answer them. */
export function staleOf(feeds: readonly StaleFeed[]): z.infer<typeof STALE_FEEDS> {
  return feeds.map(({ feed, successTime }) => ({ feed, last_read: timeText(successTime) }));
}

/** A line for each. */
export function staleLines(feeds: z.infer<typeof STALE_FEEDS>): string[] {
  return feeds.map(
    ({ feed, last_read: time }) =>
      `The feed ${feed} is older than its own interval: ${time === "" ? "never read" : `last read ${time}`}.`,
  );
}
