import { createLru } from "@moorage/kernel/lib/lru";
import type { Database } from "@moorage/kernel/store";
import { recordAffects, type RecordAffects } from "../matching/record-affects.ts";

/** A record as matching reads it. */
export interface MatchedRecord {
  feed: string;
  id: string;
  modified: number;
  change: number;
  /** Why it affects nothing, whatever it says. */
  gone?: "REMOVED" | "WITHDRAWN";
  /** By the keys of packages; empty for one that is gone. */
  affects: ReadonlyMap<string, readonly RecordAffects[]>;
}

/** A record without its content. */
export type RecordHead = Omit<MatchedRecord, "affects"> & { hash: string; format: string; bytes: number };

const CACHE_BYTES = 16 << 20;
// What a record takes in memory beside its content.
const ENTRY_BYTES = 500;

// What records say, prepared for comparison, by format and hash: one record is compared with many packages.
const prepared = createLru<string, { affects: MatchedRecord["affects"]; bytes: number }>(
  CACHE_BYTES,
  ({ bytes }) => bytes + ENTRY_BYTES,
);

const NOTHING: MatchedRecord["affects"] = new Map();
// Rows per statement, below the parameter limit of every engine.
const ROWS = 400;

/** The heads of those of the records that are there, by `recordKey`. */
export async function headsOf(
  db: Database,
  records: readonly { feed: string; id: string }[],
): Promise<Map<string, RecordHead>> {
  const found = new Map<string, RecordHead>();
  const byFeed = Map.groupBy(records, ({ feed }) => feed);
  for (const [feed, some] of byFeed)
    for (let at = 0; at < some.length; at += ROWS) {
      const rows = await heads(db)
        .where("r.feed", "=", feed)
        .where(
          "r.id",
          "in",
          some.slice(at, at + ROWS).map(({ id }) => id),
        )
        .execute();
      for (const row of rows) found.set(recordKey(row), headOf(row));
    }
  return found;
}

/** The heads of the changes after a number, at most `limit`, in their order. */
export async function headsAfter(db: Database, change: number, limit: number): Promise<RecordHead[]> {
  const rows = await heads(db).where("r.change", ">", change).orderBy("r.change").limit(limit).execute();
  return rows.map(headOf);
}

/** The record with its content. Undefined when it has changed since its head was read. */
export async function recordOf(db: Database, head: RecordHead): Promise<MatchedRecord | undefined> {
  const { hash, format, bytes, ...record } = head;
  if (record.gone !== undefined) return { ...record, affects: NOTHING };
  const known = prepared.get(`${format} ${hash}`);
  if (known !== undefined) return { ...record, affects: known.affects };
  const row = await db
    .selectFrom("feed_records")
    .select("body")
    .where("feed", "=", head.feed)
    .where("id", "=", head.id)
    .where("change", "=", head.change)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const affects = recordAffects(format, row.body);
  prepared.set(`${format} ${hash}`, { affects, bytes });
  return { ...record, affects };
}

/** What reading the record costs, in bytes of its content; 0 when it is in memory. */
export function costOf({ format, hash, gone, bytes }: RecordHead): number {
  return gone !== undefined || prepared.get(`${format} ${hash}`) !== undefined ? 0 : bytes;
}

export function recordKey({ feed, id }: { feed: string; id: string }): string {
  return `${feed}\n${id}`;
}

function heads(db: Database) {
  return db
    .selectFrom("feed_records as r")
    .leftJoin("feeds as f", "f.name", "r.feed")
    .select(({ fn }) => [
      "r.feed",
      "r.id",
      "r.modified",
      "r.change",
      "r.removed",
      "r.withdrawn",
      "r.hash",
      "f.format",
      fn<number>("length", ["r.body"]).as("bytes"),
    ]);
}

type HeadRow = Awaited<ReturnType<ReturnType<typeof heads>["execute"]>>[number];

function headOf({ removed, withdrawn, format, ...row }: HeadRow): RecordHead {
  const gone = removed === 1 || format === null ? "REMOVED" : withdrawn !== null ? "WITHDRAWN" : undefined;
  return { ...row, format: format ?? "", ...(gone !== undefined && { gone }) };
}
