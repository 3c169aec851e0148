import type { FeedDefinition, FeedsAdmin, Imported } from "@moorage/server";
import { textIn } from "./api/json-fields.ts";
import type { Json, JsonObject } from "./api/rest.ts";
import type { Column, Listing } from "./output/listing.ts";
import { type OutputFlags, printList } from "./output/output.ts";
import { plain } from "./printable.ts";

type UnmatchedRow = Awaited<ReturnType<FeedsAdmin["unmatched"]>>[number];
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
export function importedText({ feed, records, changed, removed, problems, statements, unmatched }: Imported): string {
  const said = statements === 0 ? "" : `; ${aboutNothing(unmatched, statements)}`;
  return `${feed}: ${counted(records, "record")} read, ${changed} new or changed, ${removed} removed, ${problems} not read${said}`;
}

/** Such as `12 of 40 statements are about nothing here`. */
export function aboutNothing(unmatched: number, statements: number): string {
  return `${unmatched} of ${statements} statements ${unmatched === 1 ? "is" : "are"} about nothing here`;
}

/** A statement that is about nothing here, in one line. */
export function unmatchedText({ record, ids, status, product, reason }: UnmatchedRow): string {
  const vulnerability = (JSON.parse(ids) as string[])[0] ?? "no vulnerability";
  return `${record}: ${vulnerability.toUpperCase()} ${status.replaceAll("_", " ")} in ${product || "nothing"}: ${reason}`;
}

/** The feeds as text: a line for each, below it what matters of its state. */
export function feedLines(feeds: readonly Feed[]): string[] {
  if (feeds.length === 0) return ["no feeds"];
  return feeds.flatMap((feed) => [
    `${feed.name} (${feed.format}): ${counted(feed.records, "record")}, ${feed.withdrawn} of them withdrawn, ${feed.problems} not read`,
    `  licence: ${plain(feed.licence)}`,
    ...(feed.statements === 0 ? [] : [`  last import: ${aboutNothing(feed.unmatched, feed.statements)}`]),
    ...(feed.address === "" ? [] : [`  from: ${plain(feed.address)}`]),
    `  last success: ${timeText(feed.success_time) ?? "never"}`,
    ...(feed.error === "" ? [] : [`  last error: ${plain(feed.error)}`]),
  ]);
}

/** A feed as JSON: names and times as in the JSON of the API, durations in seconds. */
export function feedJson(feed: Feed): JsonObject {
  return {
    name: feed.name,
    format: feed.format,
    licence: feed.licence,
    address: feed.address,
    interval: `${feed.interval_ms / 1000}s`,
    products: JSON.parse(feed.products) as Json,
    origin: feed.origin,
    records: feed.records,
    withdrawn: feed.withdrawn,
    problems: feed.problems,
    statements: feed.statements,
    statementsUnmatched: feed.unmatched,
    ...timeField("newestRecordTime", feed.newest),
    ...timeField("createTime", feed.create_time),
    ...timeField("attemptTime", feed.attempt_time),
    ...timeField("successTime", feed.success_time),
    error: feed.error,
  };
}

/** Prints feeds in the formats that all lists have. */
export async function printFeeds(feeds: readonly Feed[], flags: OutputFlags): Promise<void> {
  await printList(each(feeds.map(feedJson)), FEEDS, flags);
}

/** Prints what the last import of a feed could not read, in the formats that all lists have. */
export async function printProblems(problems: readonly Problem[], flags: OutputFlags): Promise<void> {
  await printList(each(problems.map((problem) => ({ ...problem }))), PROBLEMS, flags);
}

/** What the last import of a feed could not read, or what in it is about nothing here. */
export interface Problem {
  id: string;
  /** Where it is. Of a statement: the product that it is about. */
  position: string;
  message: string;
}

/** All of them: what could not be read first. */
export function problemsIn(
  problems: Awaited<ReturnType<FeedsAdmin["problems"]>>,
  unmatched: readonly UnmatchedRow[],
): Problem[] {
  return [
    ...problems.map(({ record: id, position, message }) => ({ id, position, message })),
    ...unmatched.map((row) => ({ id: row.record, position: row.product, message: unmatchedText(row) })),
  ];
}

const column = (header: string, field: string, extra: Partial<Column> = {}): Column => ({
  header,
  value: (item) => textIn(item, field),
  ...extra,
});
const FEEDS: Listing = {
  field: "feeds",
  columns: [
    column("NAME", "name"),
    column("FORMAT", "format"),
    column("RECORDS", "records", { right: true }),
    column("NOT READ", "problems", { right: true }),
    column("LAST SUCCESS", "successTime", { kind: "time" }),
    column("LICENCE", "licence", { flexible: true }),
    column("FROM", "address", { wide: true }),
    column("ERROR", "error", { wide: true }),
  ],
  nameOf: (feed) => textIn(feed, "name"),
  idOf: (feed) => textIn(feed, "name"),
};
const PROBLEMS: Listing = {
  field: "problems",
  columns: [column("RECORD", "id"), column("WHERE", "position"), column("MESSAGE", "message", { flexible: true })],
  nameOf: (problem) => textIn(problem, "id"),
  idOf: (problem) => textIn(problem, "id"),
};

async function* each(items: readonly JsonObject[]): AsyncGenerator<JsonObject> {
  yield* items;
}

function timeField(name: string, ms: number | null): JsonObject {
  const text = timeText(ms);
  return text === undefined ? {} : { [name]: text };
}

function timeText(ms: number | null): string | undefined {
  return ms === null ? undefined : new Date(ms).toISOString();
}
