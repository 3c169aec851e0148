import { randomUUID } from "node:crypto";
import type { Call } from "../../../kernel/src/core/call.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { openCall } from "../../src/runtime/open-call.ts";
import {
  beginImport,
  endImport,
  putFeedRecords,
  putFeeds,
  removeFeedRecords,
} from "../../../security/src/security/feeds/commands.ts";
import type { FeedDefinition } from "../../../security/src/security/feeds/definition.ts";
import type { FeedFormat } from "../../../security/src/security/records/formats.ts";
import { osvRecord } from "../../../security/src/security/feeds/osv.ts";
import { type FeedRecord, recordOf } from "../../../security/src/security/records/record.ts";
import { storedRecord } from "../../../security/src/security/feeds/stored-record.ts";
import type { Platform } from "./platform.ts";

/** A server, or a store alone. `nowMs`: when it is done, if not now. */
type Writable = Pick<Platform, "transact"> & Partial<Pick<Platform, "wake">> & { nowMs?: number };

/**
 * Puts records into a feed of a running server, by the commands of an import; the feed is made if it is not there.
 * `products`: what it may decide about. It
 * covers all that it has records about.
 */
export async function putRecords(
  { transact, wake = () => {}, nowMs = Date.now() }: Writable,
  feed: string,
  format: FeedFormat,
  records: readonly FeedRecord[],
  removed: string[] = [],
  products: string[] = [],
): Promise<void> {
  const place = { feed, run: randomUUID() };
  const definition = { name: feed, format, address: "", licence: "CC-BY-4.0", intervalMs: 0, products, covers: ["*"] };
  const wakes = await transact(async (tx) => {
    const call = openCall(systemCall(nowMs), tx);
    await putFeeds.run(call, { feeds: [definition], origin: "command", mustBeNew: false }, undefined);
    await beginImport.run(call, place, undefined);
    if (records.length > 0) await putFeedRecords.run(call, { place, records: records.map(storedRecord) }, undefined);
    if (removed.length > 0) await removeFeedRecords.run(call, { place, ids: removed }, undefined);
    await endImport.run(call, { place, error: "" }, undefined);
    return call.wakes;
  });
  wake(wakes);
}

/** Begins an import of records of OSV into a new feed, which goes on until `end`. */
export async function openedImport(
  { transact, wake = () => {} }: Writable,
  feed: string,
): Promise<{ add(records: readonly FeedRecord[]): Promise<void>; end(): Promise<void> }> {
  const place = { feed, run: randomUUID() };
  const definition: FeedDefinition = {
    name: feed,
    format: "osv",
    address: "",
    licence: "MIT",
    intervalMs: 0,
    products: [],
    covers: ["*"],
  };
  const run = async (work: (call: Call) => Promise<unknown>): Promise<void> =>
    wake(
      await transact(async (tx) => {
        const call = openCall(systemCall(Date.now()), tx);
        await work(call);
        return call.wakes;
      }),
    );
  await run((call) => putFeeds.run(call, { feeds: [definition], origin: "command", mustBeNew: true }, undefined));
  await run((call) => beginImport.run(call, place, undefined));
  return {
    add: (records) => run((call) => putFeedRecords.run(call, { place, records: records.map(storedRecord) }, undefined)),
    end: () => run((call) => endImport.run(call, { place, error: "" }, undefined)),
  };
}

/** A record of OSV, which says when it was modified if `more` does not. */
export function osvOf(id: string, more: object): FeedRecord {
  const { record } = osvRecord({ id, modified: "2026-01-02T03:04:05Z", ...more });
  if (record === undefined) throw new Error(`${id} is no record`);
  return record;
}

/** A record of a format that has only an id, with its body. */
export function plainRecord(id: string, body: object = {}): FeedRecord {
  const { record } = recordOf({ id, modified: 0, body: JSON.stringify(body) });
  if (record === undefined) throw new Error(`${id} is no record`);
  return record;
}
