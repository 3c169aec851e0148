// A feed as commands show it, whether it was read from the database of an installation or answered by a server.
import type { FeedsAdmin } from "@moorage/server";
import { numberIn, objectsIn, textIn, textsIn } from "./api/json-fields.ts";
import type { JsonObject } from "./api/rest.ts";

/** Times are milliseconds since 1970. */
export interface FeedView {
  name: string;
  format: string;
  licence: string;
  /** Empty for a feed that is imported alone. */
  address: string;
  intervalMs: number;
  products: string[];
  isFromFile: boolean;
  records: number;
  withdrawn: number;
  problems: number;
  /** Undefined as long as it is not known, as `covered`. */
  unmatched: number | undefined;
  covered: { space: string; records: number; isMatched: boolean }[] | undefined;
  statements: number;
  statementsUnmatched: number;
  /** When its newest record was changed. Servers do not answer it. */
  newestMs: number | undefined;
  createMs: number;
  attemptMs: number | undefined;
  successMs: number | undefined;
  /** When it was asked to be fetched, as long as that has not been done. */
  requestMs: number | undefined;
  dueMs: number | undefined;
  isOverdue: boolean;
  isGoing: boolean;
  /** Why the last attempt failed; empty when it did not. */
  error: string;
}

/** A feed of the database. */
export function viewOfRow(row: Awaited<ReturnType<FeedsAdmin["list"]>>[number]): FeedView {
  const { name, format, licence, address, records, withdrawn, problems, statements, error, dueMs, isOverdue } = row;
  return {
    name,
    format,
    licence,
    address,
    records,
    withdrawn,
    problems,
    statements,
    error,
    dueMs,
    isOverdue,
    intervalMs: row.interval_ms,
    products: JSON.parse(row.products) as string[],
    isFromFile: row.origin === "file",
    unmatched: row.unmatched ?? undefined,
    covered: row.covered,
    statementsUnmatched: row.statements_unmatched,
    newestMs: row.newest ?? undefined,
    createMs: row.create_time,
    attemptMs: row.attempt_time ?? undefined,
    successMs: row.success_time ?? undefined,
    requestMs: row.request_time ?? undefined,
    isGoing: row.delete_time !== null,
  };
}

/** A feed in the JSON of the API. */
export function viewOfJson(feed: JsonObject): FeedView {
  const isKnown = feed["coverageKnown"] === true;
  const coverage = objectsIn(feed, "coverage");
  return {
    name: textIn(feed, "name"),
    format: textIn(feed, "format"),
    licence: textIn(feed, "licence"),
    address: textIn(feed, "address"),
    intervalMs: millisecondsOf(textIn(feed, "interval")),
    products: textsIn(feed, "products"),
    isFromFile: feed["fromFile"] === true,
    records: numberIn(feed, "records"),
    withdrawn: numberIn(feed, "withdrawn"),
    problems: numberIn(feed, "problems"),
    unmatched: isKnown ? numberIn(feed, "unmatched") : undefined,
    covered: isKnown
      ? coverage.map((each) => ({
          space: textIn(each, "space"),
          records: numberIn(each, "records"),
          isMatched: each["isMatched"] === true,
        }))
      : undefined,
    statements: numberIn(feed, "statements"),
    statementsUnmatched: numberIn(feed, "statementsUnmatched"),
    newestMs: undefined,
    createMs: timeIn(feed, "createTime") ?? 0,
    attemptMs: timeIn(feed, "attemptTime"),
    successMs: timeIn(feed, "successTime"),
    requestMs: timeIn(feed, "requestTime"),
    dueMs: timeIn(feed, "dueTime"),
    isOverdue: feed["isOverdue"] === true,
    isGoing: feed["deleteTime"] !== undefined,
    error: textIn(feed, "error"),
  };
}

/** Milliseconds of a duration of protobuf's JSON, such as `21600s`. */
export function millisecondsOf(duration: string): number {
  return Math.round(Number.parseFloat(duration) * 1000) || 0;
}

function timeIn(feed: JsonObject, field: string): number | undefined {
  const ms = Date.parse(textIn(feed, field));
  return Number.isNaN(ms) ? undefined : ms;
}
