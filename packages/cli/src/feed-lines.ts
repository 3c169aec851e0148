import type { FeedDefinition, FeedsAdmin, Imported } from "@moorage/server";
import { objectsIn, textIn, textsIn } from "./api/json-fields.ts";
import type { Json, JsonObject } from "./api/rest.ts";
import type { FeedView } from "./feed-view.ts";
import type { Column, Listing } from "./output/listing.ts";
import { type OutputFlags, printList } from "./output/output.ts";
import { plain } from "./printable.ts";

type ProblemRow = Awaited<ReturnType<FeedsAdmin["problems"]>>[number];
type StatementRow = Awaited<ReturnType<FeedsAdmin["unmatched"]>>[number];

/** A number of records or feeds. */
export function counted(count: number, what: "feed" | "record"): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** What was decided about a feed that an import added, in one line. */
export function addedText({ name, format, licence }: FeedDefinition, file: string): string {
  return `${plain(file)} has the format ${format}: added the feed ${name}, license: ${plain(licence)}`;
}

/** What an import did, in one line. */
export function importedText(imported: Imported): string {
  const { feed, records, changed, removed, problems, unmatched, statements, statementsUnmatched } = imported;
  const matching = unmatched === 0 ? "" : `, ${unmatched} read that match nothing, or in part`;
  const said = statements === 0 ? "" : `; ${aboutNothing(statementsUnmatched, statements)}`;
  return `${feed}: ${counted(records, "record")} read, ${changed} new or changed, ${removed} removed, ${problems} not read${matching}${said}`;
}

/** What the last fetch of a server has left of a feed, in one line. */
export function fetchedText(feed: FeedView): string {
  const { name, records, problems, statements, statementsUnmatched } = feed;
  const said = statements === 0 ? "" : `; ${aboutNothing(statementsUnmatched, statements)}`;
  return `${name}: ${counted(records, "record")}, ${problems} not read${unmatchedText(feed)}${said}`;
}

/** Such as `12 of 40 statements are about nothing here`. */
function aboutNothing(unmatched: number, statements: number): string {
  return `${unmatched} of ${statements} statements ${unmatched === 1 ? "is" : "are"} about nothing here`;
}

/** A statement that is about nothing here, in one line. */
function statementText({ record, ids, status, product, reason }: Omit<StatementRow, "n">): string {
  const vulnerability = (JSON.parse(ids) as string[])[0] ?? "no vulnerability";
  return `${record}: ${vulnerability.toUpperCase()} ${status.replaceAll("_", " ")} in ${product || "nothing"}: ${reason}`;
}

/** The feeds as text: a line for each, below it what matters of its state. */
export function feedLines(feeds: readonly FeedView[]): string[] {
  if (feeds.length === 0) return ["no feeds"];
  return feeds.flatMap((feed) => [
    `${feed.name} (${feed.format}): ${counted(feed.records, "record")}, ${feed.withdrawn} of them withdrawn, ${feed.problems} not read${unmatchedText(feed)}`,
    `  license: ${plain(feed.licence)}`,
    `  covers: ${coverageText(feed)}`,
    ...(feed.statements === 0 ? [] : [`  last import: ${aboutNothing(feed.statementsUnmatched, feed.statements)}`]),
    ...(feed.address === "" ? [] : [`  from: ${plain(feed.address)}`]),
    `  last success: ${timeText(feed.successMs) ?? "never"}${feed.isOverdue ? " (overdue)" : ""}`,
    ...(feed.dueMs === undefined ? [] : [`  next update: ${dueText(feed)}`]),
    ...(feed.isGoing ? ["  is being removed"] : []),
    ...(feed.error === "" ? [] : [`  last error: ${plain(feed.error)}`]),
  ]);
}

function unmatchedText({ unmatched }: FeedView): string {
  return unmatched === undefined || unmatched === 0 ? "" : `, ${unmatched} match nothing, or in part`;
}

/** A feed as JSON: names and times as in the JSON of the API, durations in seconds. */
export function feedJson(feed: FeedView): JsonObject {
  return {
    name: feed.name,
    format: feed.format,
    licence: feed.licence,
    address: feed.address,
    interval: `${feed.intervalMs / 1000}s`,
    products: feed.products,
    origin: feed.isFromFile ? "file" : "command",
    records: feed.records,
    withdrawn: feed.withdrawn,
    problems: feed.problems,
    ...(feed.unmatched !== undefined && { unmatched: feed.unmatched }),
    ...(feed.covered !== undefined && { coverage: feed.covered as unknown as Json }),
    statements: feed.statements,
    statementsUnmatched: feed.statementsUnmatched,
    ...timeField("newestRecordTime", feed.newestMs),
    ...timeField("createTime", feed.createMs),
    ...timeField("attemptTime", feed.attemptMs),
    ...timeField("successTime", feed.successMs),
    ...(feed.dueMs === undefined ? {} : timeField("dueTime", Math.max(feed.dueMs, feed.createMs))),
    isOverdue: feed.isOverdue,
    error: feed.error,
  };
}

/** Prints feeds in the formats that all lists have. */
export async function printFeeds(feeds: readonly FeedView[], flags: OutputFlags): Promise<void> {
  await printList(each(feeds.map(feedJson)), FEEDS, flags);
}

/** What the last import of a feed could not read, what of it matches nothing, or a statement that is about nothing. */
export interface Problem {
  feed: string;
  kind: ProblemRow["kind"] | "STATEMENT";
  id: string;
  /** Where it is. Of a statement: the product that it is about. */
  position: string;
  message: string;
}

/** Problems in the JSON of the API, with the feeds and their statements: statements last. */
export function problemsInJson(problems: readonly JsonObject[], feeds: readonly JsonObject[]): Problem[] {
  const rows = problems.map((each) => ({
    feed: textIn(each, "feed"),
    kind: textIn(each, "kind").replace("KIND_", "") as ProblemRow["kind"],
    record: textIn(each, "record"),
    position: textIn(each, "position"),
    message: textIn(each, "message"),
  }));
  const statements = feeds.flatMap((feed) =>
    objectsIn(feed, "unmatchedStatements").map((each) => ({
      feed: textIn(feed, "name"),
      record: textIn(each, "record"),
      ids: JSON.stringify(textsIn(each, "vulnerabilities")),
      status: textIn(each, "status"),
      product: textIn(each, "product"),
      reason: textIn(each, "reason"),
    })),
  );
  return problemsIn(rows, statements);
}

/** All of them: statements last. */
export function problemsIn(
  problems: readonly Pick<ProblemRow, "feed" | "kind" | "record" | "position" | "message">[],
  statements: readonly Omit<StatementRow, "n">[],
): Problem[] {
  return [
    ...problems.map(({ feed, kind, record: id, position, message }) => ({ feed, kind, id, position, message })),
    ...statements.map((row) => ({
      feed: row.feed,
      kind: "STATEMENT" as const,
      id: row.record,
      position: row.product,
      message: statementText(row),
    })),
  ];
}

/** Problems as text, of one feed or of all; the last lines say how many are not among them. */
export function problemLines(
  problems: readonly Problem[],
  of: string | undefined,
  feeds: readonly FeedView[],
): string[] {
  const lines = problems.map(({ feed, kind, position, message }) => {
    const text = kind === "STATEMENT" ? message : `${position}: ${message}`;
    return plain(of === undefined ? `${feed}: ${text}` : text);
  });
  for (const feed of feeds.filter(({ name }) => of === undefined || name === of)) {
    const [statements, others] = [true, false].map(
      (isStatement) =>
        problems.filter((each) => each.feed === feed.name && (each.kind === "STATEMENT") === isStatement).length,
    ) as [number, number];
    const more = feed.problems + (feed.unmatched ?? 0) - others;
    if (more > 0) lines.push(`${feed.name}: ${more} more`);
    if (feed.unmatched === undefined && feed.records > 0)
      lines.push(`${feed.name}: not known what of it matches nothing, until the next import of all of it`);
    const rest = statements < feed.statementsUnmatched ? "; these are the first" : "";
    if (feed.statements > 0)
      lines.push(`${feed.name}: ${aboutNothing(feed.statementsUnmatched, feed.statements)}${rest}`);
  }
  return lines;
}

/** What a feed covers, in one line: `debian 11, 12; npm; not matched: Hex`. */
export function coverageText({ covered, format, records }: Pick<FeedView, "covered" | "format" | "records">): string {
  const fixed = FIXED_COVERAGE[format];
  if (fixed !== undefined) return records === 0 ? "nothing yet" : fixed;
  if (covered === undefined) return records === 0 ? "nothing yet" : "not known until the next import of all of it";
  const releases = Map.groupBy(
    covered.filter(({ isMatched }) => isMatched),
    ({ space }) => space.split(":", 1)[0] ?? "",
  );
  const texts = [...releases].map(([name, all]) =>
    [name, all.flatMap(({ space }) => (space === name ? [] : space.slice(name.length + 1))).join(", ")]
      .join(" ")
      .trim(),
  );
  const others = covered.filter(({ isMatched }) => !isMatched).map(({ space, records: n }) => `${plain(space)} (${n})`);
  if (others.length > 0) texts.push(`not matched: ${listed(others)}`);
  return texts.length === 0 ? "nothing yet" : texts.join("; ");
}

const MAX_OTHERS = 10;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_OTHERS;
  return [...names.slice(0, MAX_OTHERS), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

const FIXED_COVERAGE: Readonly<Record<string, string>> = {
  kev: "which CVEs are known to be exploited",
  epss: "how probable it is that CVEs will be exploited",
  endoflife: "ends of life of products",
  openvex: "what becomes of vulnerabilities in the products that it may decide about",
  "csaf-vex": "what becomes of vulnerabilities in the products that it may decide about",
  "cyclonedx-vex": "what becomes of vulnerabilities in the products that it may decide about",
};

/** Prints what the last imports of feeds could not read, in the formats that all lists have. */
export async function printProblems(problems: readonly Problem[], flags: OutputFlags): Promise<void> {
  await printList(each(problems.map((problem) => ({ ...problem }))), PROBLEMS, flags);
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
    column("NO MATCH", "unmatched", { right: true }),
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
  columns: [
    column("FEED", "feed"),
    column("KIND", "kind"),
    column("RECORD", "id"),
    column("WHERE", "position"),
    column("MESSAGE", "message", { flexible: true }),
  ],
  nameOf: (problem) => textIn(problem, "id"),
  idOf: (problem) => textIn(problem, "id"),
};

async function* each(items: readonly JsonObject[]): AsyncGenerator<JsonObject> {
  yield* items;
}

/** When a feed with an address is fetched next, in words. */
export function dueText({ dueMs, intervalMs }: Pick<FeedView, "dueMs" | "intervalMs">): string {
  const at = dueMs === undefined || dueMs <= Date.now() ? "as soon as a server runs" : timeText(dueMs);
  return `${at}, then every ${intervalText(intervalMs)}`;
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
] as const;

/** An interval as settings have it, such as `6h`. */
export function intervalText(ms: number): string {
  const [sizeMs, unit] = UNITS.find(([each]) => ms % each === 0) ?? [1_000, "s"];
  return `${ms / sizeMs}${unit}`;
}

function timeField(name: string, ms: number | undefined): JsonObject {
  const text = timeText(ms);
  return text === undefined ? {} : { [name]: text };
}

function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
