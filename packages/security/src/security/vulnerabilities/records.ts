import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import type { Severity } from "../records/severities.ts";
import type { RecordRef } from "./join.ts";

/** A record of a feed without its content, of which it has the size in bytes. */
export interface RecordHead extends RecordRef {
  /** Milliseconds since 1970; 0 where the source has no times. */
  modified: number;
  /** Milliseconds since 1970. */
  withdrawn: number | null;
  severity: Severity;
  /** CVSS in tenths. */
  scoreTenths: number | null;
  size: number;
}

const RECORDS_AT_ONCE = 100;

/** The text under which a record stands in maps. */
export const refKey = ({ feed, record }: RecordRef): string => `${feed} ${record}`;

/** The heads of records, by `refKey`. */
export async function headsOf(tx: Database, refs: readonly RecordRef[]): Promise<ReadonlyMap<string, RecordHead>> {
  const rows = await inFeeds(refs, (feed, records) =>
    select<Omit<RecordHead, "feed"> & { id: string; modified: number | string; size: number | string }>(
      tx,
      `select id, modified, withdrawn, severity, score_tenths as "scoreTenths", octet_length(body) as size
       from feed_records where feed = ? and removed = 0 and id in (${records.map(() => "?").join(", ")})`,
      [feed, ...records],
    ),
  );
  return new Map(
    rows.map(([feed, { id, ...row }]) => {
      const head = { ...row, feed, record: id, modified: Number(row.modified), size: Number(row.size) };
      return [refKey(head), { ...head, withdrawn: head.withdrawn === null ? null : Number(head.withdrawn) }];
    }),
  );
}

/** The contents of records, parsed, by `refKey`. The caller bounds their sizes by their heads. */
export async function bodiesOf(
  tx: Database,
  refs: readonly RecordRef[],
): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const rows = await inFeeds(refs, (feed, records) =>
    select<{ id: string; body: string }>(
      tx,
      `select id, body from feed_records where feed = ? and removed = 0 and id in (${records.map(() => "?").join(", ")})`,
      [feed, ...records],
    ),
  );
  const turn = createTurns();
  const found = new Map<string, Record<string, unknown>>();
  for (const [feed, { id, body }] of rows) {
    // What an import wrote is JSON of an object.
    found.set(refKey({ feed, record: id }), JSON.parse(body) as Record<string, unknown>);
    await turn();
  }
  return found;
}

async function inFeeds<R>(
  refs: readonly RecordRef[],
  ask: (feed: string, records: readonly string[]) => R[] | Promise<R[]>,
): Promise<[feed: string, row: R][]> {
  const turn = createTurns();
  const found: [string, R][] = [];
  for (const [feed, ofFeed] of Map.groupBy(refs, (ref) => ref.feed)) {
    const records = [...new Set(ofFeed.map(({ record }) => record))];
    for (let at = 0; at < records.length; at += RECORDS_AT_ONCE)
      for (const row of await ask(feed, records.slice(at, at + RECORDS_AT_ONCE))) {
        found.push([feed, row]);
        await turn();
      }
  }
  return found;
}
