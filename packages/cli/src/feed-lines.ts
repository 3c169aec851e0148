import type { FeedDefinition, FeedsAdmin, Imported } from "@moorage/server";
import { plain } from "./printable.ts";

type Feed = Awaited<ReturnType<FeedsAdmin["list"]>>[number];

/** A number of records or feeds. */
export function counted(count: number, what: "feed" | "record"): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** What was decided about a feed that an import added, in one line. */
export function addedText({ name, format, licence }: FeedDefinition, file: string): string {
  return `${plain(file)} has the format ${format}: added the feed ${name}, licence: ${plain(licence)}`;
}

/** What an import did, in one line. */
export function importedText({ feed, records, changed, removed, problems }: Imported): string {
  return `${feed}: ${counted(records, "record")} read, ${changed} new or changed, ${removed} removed, ${problems} not read`;
}

/** The feeds as text: a line for each, below it what matters of its state. */
export function feedLines(feeds: readonly Feed[]): string[] {
  if (feeds.length === 0) return ["no feeds"];
  return feeds.flatMap((feed) => [
    `${feed.name} (${feed.format}): ${counted(feed.records, "record")}, ${feed.withdrawn} of them withdrawn, ${feed.problems} not read`,
    `  licence: ${plain(feed.licence)}`,
    ...(feed.address === "" ? [] : [`  from: ${plain(feed.address)}`]),
    `  last success: ${timeText(feed.success_time) ?? "never"}`,
    ...(feed.error === "" ? [] : [`  last error: ${plain(feed.error)}`]),
  ]);
}

/** A feed as JSON: names and times as in the JSON of the API, durations in seconds. */
export function feedJson(feed: Feed): object {
  return {
    name: feed.name,
    format: feed.format,
    licence: feed.licence,
    address: feed.address,
    interval: `${feed.interval_ms / 1000}s`,
    products: JSON.parse(feed.products) as unknown,
    origin: feed.origin,
    records: feed.records,
    withdrawn: feed.withdrawn,
    problems: feed.problems,
    newestRecordTime: timeText(feed.newest),
    createTime: timeText(feed.create_time),
    attemptTime: timeText(feed.attempt_time),
    successTime: timeText(feed.success_time),
    error: feed.error,
  };
}

function timeText(ms: number | null): string | undefined {
  return ms === null ? undefined : new Date(ms).toISOString();
}
