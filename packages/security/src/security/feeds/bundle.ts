import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Database, Row } from "@moorage/kernel/store";
import { coversOf } from "./covers.ts";
import type { FeedDefinition } from "./definition.ts";
import { jsonOf } from "./documents.ts";
import { listAt, objectAt, textAt } from "../records/fields.ts";
import type { FeedFormat } from "../records/formats.ts";
import { numberedLines } from "./lines.ts";
import { partsOf } from "./parts.ts";
import { type FeedProblem, SourceError, UnreadableRecord } from "../records/record.ts";
import { SEVERITIES, type Severity } from "../records/severities.ts";
import { FEED_KEY_KINDS, type FeedKeyKind, type StoredRead, type StoredRecord, withHash } from "./stored-record.ts";

// All feeds in one file, for machines without a network: gzip, and in it a line of JSON for the file, for each feed
// with its license, for each of its problems and records, and for the end.

const VERSION = 1;
const PAGE = 500;
// The largest document twice over, as text in a line of JSON.
const MAX_LINE_BYTES = 160 << 20;

/** Writes the feeds with all records to a new file, or in place of that file. Returns how many. */
export async function exportBundle(reader: Database, file: string): Promise<{ feeds: number; records: number }> {
  const counts = { feeds: 0, records: 0 };
  const partial = `${file}.partial`;
  try {
    await pipeline(
      Readable.from(lines(reader, counts)),
      createGzip(),
      createWriteStream(partial, { mode: 0o600, flush: true }),
    );
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return counts;
}

async function* lines(reader: Database, counts: { feeds: number; records: number }): AsyncGenerator<string> {
  const line = (content: object): string => `${JSON.stringify(content)}\n`;
  yield line({ moorage: "feeds", version: VERSION });
  for (const row of await reader.selectFrom("feeds").selectAll().orderBy("name").execute()) {
    counts.feeds += 1;
    const { name, format, licence, interval_ms: intervalMs } = row;
    // What it covers by its address is not known where it has none.
    const covers = coversOf(row);
    yield line({ feed: { name, format, licence, intervalMs, products: JSON.parse(row.products) as string[], covers } });
    const problems = await reader
      .selectFrom("feed_problems")
      .selectAll()
      .where("feed", "=", name)
      // What matches nothing is found out where it is imported.
      .where("kind", "=", "UNREADABLE")
      .orderBy("n")
      .execute();
    for (const { record: id, position, message } of problems) yield line({ problem: { id, position, message } });
    for await (const rows of pagesOf(reader, name))
      for (const { row, keys } of rows) {
        counts.records += 1;
        const { id, modified, withdrawn, severity, score_tenths: scoreTenths, body } = row;
        yield line({ record: { id, modified, withdrawn, severity, scoreTenths, body, keys } });
      }
  }
  yield line({ end: counts });
}

async function* pagesOf(
  reader: Database,
  feed: string,
): AsyncGenerator<{ row: Row<"feed_records">; keys: [string, string][] }[]> {
  for (let after = ""; ;) {
    const rows = await reader
      .selectFrom("feed_records")
      .selectAll()
      .where("feed", "=", feed)
      .where("id", ">", after)
      .where("removed", "=", 0)
      .orderBy("id")
      .limit(PAGE)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    const keys = await reader
      .selectFrom("feed_keys")
      .select(["record", "kind", "key"])
      .where("feed", "=", feed)
      .where(
        "record",
        "in",
        rows.map(({ id }) => id),
      )
      .execute();
    const byRecord = Map.groupBy(keys, ({ record }) => record);
    yield rows.map((row) => ({ row, keys: (byRecord.get(row.id) ?? []).map(({ kind, key }) => [kind, key]) }));
    after = last.id;
  }
}

/** A feed of a bundle. `read` reads the file anew each time. */
export interface BundledFeed {
  definition: FeedDefinition;
  read(): AsyncIterable<StoredRead>;
}

/** The feeds of a bundle, after a look at all of it. Throws a SourceError that names the line. */
export async function bundledFeeds(file: string): Promise<BundledFeed[]> {
  const feeds: BundledFeed[] = [];
  let isEnded = false;
  for await (const { line } of linesOf(file)) {
    isEnded = line["end"] !== undefined;
    if (line["feed"] === undefined) continue;
    const definition = definitionOf(line["feed"]);
    feeds.push({ definition, read: () => recordsOf(file, definition.name) });
  }
  if (!isEnded) throw new SourceError(`${file} ends early`);
  return feeds;
}

async function* recordsOf(file: string, name: string): AsyncGenerator<StoredRead> {
  let isHere = false;
  for await (const { number, line } of linesOf(file)) {
    if (line["feed"] !== undefined) {
      if (isHere) return;
      isHere = definitionOf(line["feed"]).name === name;
    } else if (isHere && line["problem"] !== undefined) yield { problem: problemAt(line["problem"]) };
    else if (isHere && line["record"] !== undefined) yield { stored: recordAt(line["record"], number) };
  }
}

async function* linesOf(file: string): AsyncGenerator<{ number: number; line: Record<string, unknown> }> {
  for await (const part of partsOf(file))
    for await (const { number, text } of numberedLines(part.bytes(), MAX_LINE_BYTES)) {
      let line: Record<string, unknown>;
      try {
        line = objectAt(jsonOf(text ?? ""), "the line");
      } catch (error) {
        if (number > 1) throw new SourceError(`${file}: line ${number} cannot be read`, { cause: error });
        line = {};
      }
      if (number === 1 && (line["moorage"] !== "feeds" || line["version"] !== VERSION))
        throw new SourceError(`${file} is not an export of feeds that this moorage reads`);
      yield { number, line };
    }
}

function definitionOf(value: unknown): FeedDefinition {
  const { name, format, licence, intervalMs, products, covers = [] } = objectAt(value, "feed");
  // What it says is checked where feeds are added. No address: this machine may have no network.
  return {
    name: textAt(name, "name"),
    format: textAt(format, "format") as FeedFormat,
    address: "",
    licence: textAt(licence, "licence"),
    intervalMs: Number(intervalMs),
    products: listAt(products, "products").map(String),
    covers: listAt(covers, "covers").map(String),
  };
}

function problemAt(value: unknown): FeedProblem {
  const { id, position, message } = objectAt(value, "problem");
  return { id: String(id), position: String(position), message: String(message) };
}

function recordAt(value: unknown, number: number): StoredRecord {
  try {
    const { id, modified, withdrawn, severity, scoreTenths, body, keys } = objectAt(value, "record");
    const integerAt = (each: unknown, field: string): number => {
      if (!Number.isSafeInteger(each)) throw new UnreadableRecord(`${field}: must be a whole number`);
      return Number(each);
    };
    if (!SEVERITIES.includes(severity as Severity)) throw new UnreadableRecord("severity: is not one");
    return withHash({
      id: textAt(id, "id"),
      modified: integerAt(modified, "modified"),
      withdrawn: withdrawn === null ? null : integerAt(withdrawn, "withdrawn"),
      severity: severity as Severity,
      scoreTenths: scoreTenths === null ? null : integerAt(scoreTenths, "scoreTenths"),
      body: textAt(body, "body"),
      keys: listAt(keys, "keys").map((pair) => keyAt(listAt(pair, "keys"))),
    });
  } catch (error) {
    throw error instanceof UnreadableRecord
      ? new SourceError(`line ${number}: ${error.message}`, { cause: error })
      : error;
  }
}

function keyAt([kind, key]: unknown[]): [FeedKeyKind, string] {
  if (!FEED_KEY_KINDS.includes(kind as FeedKeyKind)) throw new UnreadableRecord("keys: has a kind that is not known");
  return [kind as FeedKeyKind, textAt(key, "keys")];
}
