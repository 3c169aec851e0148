import { type Database, select, snapshotCaches } from "@moorage/kernel/store";
import { marks } from "../marks.ts";

/** Formats whose records are compared with packages. */
const COMPARED = "'osv', 'alpine-secdb', 'debian-tracker'";

/** So many records of a space are looked at: whether one of them was compared, or belongs to a feed. */
const LOOKED_AT = 1_000;

/** What the feeds have for a key space: no record, records that wait to be compared, or compared ones. */
export type SpaceState = "none" | "waiting" | "compared";

const MAX_KNOWN = 1_000;
/** Until a feed changes. A space that waits is asked about again: what was compared is said by an uncached table. */
const knownStates = snapshotCaches<Exclude<SpaceState, "waiting">>(MAX_KNOWN);
const knownFeeds = snapshotCaches<{ mayHave: boolean }>(MAX_KNOWN);

/**
 * What these feeds have for the packages of a key space, such as `debian:12`: see packageKey. Reads one index, and of
 * it the rows of these feeds.
 */
export async function stateOfSpace(tx: Database, space: string, feeds: readonly string[]): Promise<SpaceState> {
  if (feeds.length === 0) return "none";
  const known = await knownStates(tx).remember([space, ...feeds].join("\n"), async () => {
    const state = await readState(tx, space, feeds);
    return state === "waiting" ? undefined : state;
  });
  return known ?? "waiting";
}

async function readState(tx: Database, space: string, feeds: readonly string[]): Promise<SpaceState> {
  // "0" follows "/".
  const range = [`${space}/`, `${space}0`];
  const [row] = await select<{ held: number | null; compared: number | null }>(
    tx,
    `select
       (select 1 from feed_keys as k
        where k.kind = 'package' and k.key >= ? and k.key < ? and k.feed in (${marks(feeds)}) limit 1) as held,
       (select 1 from (
          select k.feed, k.record from feed_keys as k
          where k.kind = 'package' and k.key >= ? and k.key < ? and k.feed in (${marks(feeds)}) order by k.key limit ${LOOKED_AT}) as s
        join feed_records as r on r.feed = s.feed and r.id = s.record
        where r.change <= coalesce((select m.value from matching as m where m.name = 'changes'), 0) limit 1) as compared`,
    [...range, ...feeds, ...range, ...feeds],
  );
  if (!isSet(row?.held)) return "none";
  return isSet(row?.compared) ? "compared" : "waiting";
}

/** Whether a feed has records that are compared with packages, and was read to its end at least once. */
export async function isAnyFeed(tx: Database): Promise<boolean> {
  const rows = await select(
    tx,
    `select name from feeds where format in (${COMPARED}) and success_time is not null
     and exists (select 1 from feed_records as r where r.feed = feeds.name and r.removed = 0) limit 1`,
    [],
  );
  return rows.length > 0;
}

const SEARCHED = 50_000;
const SOME_KEYS = `select k.feed from feed_keys as k where k.kind = 'package' and k.key >= ? and k.key < ? limit ${SEARCHED}`;

/** Whether the feed may have records of the space: also true when that would take too long to find out. */
export async function mayHaveRecords(tx: Database, feed: string, space: string): Promise<boolean> {
  const known = await knownFeeds(tx).remember(`${space}\n${feed}`, async () => {
    return { mayHave: await readWhetherAny(tx, feed, space) };
  });
  return known.mayHave;
}

async function readWhetherAny(tx: Database, feed: string, space: string): Promise<boolean> {
  const [row] = await select<{ own: number | null; last: number | null }>(
    tx,
    `select
       (select 1 from (${SOME_KEYS}) as s where s.feed = ? limit 1) as own,
       (select 1 from (${SOME_KEYS}) as s limit 1 offset ${SEARCHED - 1}) as last`,
    [`${space}/`, `${space}0`, feed, `${space}/`, `${space}0`],
  );
  return isSet(row?.own) || isSet(row?.last);
}

const isSet = (value: number | null | undefined): boolean => (value ?? null) !== null;
