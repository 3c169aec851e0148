import type { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { remediesIn, type VexRemedy } from "../vex/remedies.ts";
import type { VexStatus } from "../vex/types.ts";

type Turn = ReturnType<typeof createTurns>;

/** What a feed says of one vulnerability in a product that it may decide about. */
export interface FeedStatement {
  feed: string;
  /** The id of the document in the feed. */
  record: string;
  /** The ids of the vulnerability, in lower case, its main one first. */
  ids: string[];
  status: VexStatus;
  /** As OpenVEX names it; empty when it says none. */
  justification: string;
  impact: string;
  product: string;
  component: string;
  author: string;
  /** What can be done about it. */
  remedies: VexRemedy[];
  /** When it was made or last changed, in milliseconds since 1970. */
  timeMs: number;
  /** Since when it says this here, in milliseconds since 1970. */
  fromMs: number;
}

const KEYS_AT_ONCE = 150;
const PAIRS_AT_ONCE = 150;
/** The most that is read of so many keys: the latest. */
const MAX_AT_ONCE = 20_000;

type StatementRow = Omit<Row<"feed_statements">, "from_time" | "until_time" | "hash">;

/** All statements that are found by one of the keys, the latest first. */
export async function statementsUnder(tx: Database, keys: readonly string[]): Promise<FeedStatement[]> {
  const some = (await isAnythingStated(tx)) ? await keysInUse(tx, keys) : [];
  return await inParts(some, KEYS_AT_ONCE, async (part) =>
    select<StatementRow>(
      tx,
      `select s.* from (select distinct feed, record, n from feed_statement_keys where key in (${part.map(() => "?").join(", ")})) as k
       join feed_statements as s on s.feed = k.feed and s.record = k.record and s.n = k.n
       where s.until_time is null order by s.time desc limit ${MAX_AT_ONCE}`,
      part,
    ),
  );
}

/**
 * The statements that are found by a key and are about the vulnerability, for any of the pairs, the latest first.
 * `atMs`: as of a time, in milliseconds since 1970; now without.
 */
export async function statementsOn(
  tx: Database,
  pairs: readonly (readonly [key: string, vulnerability: string])[],
  atMs: number | undefined,
  turn?: Turn,
): Promise<FeedStatement[]> {
  const time =
    atMs === undefined ? "s.until_time is null" : "s.from_time <= ? and (s.until_time is null or s.until_time > ?)";
  const read = async (part: typeof pairs): Promise<StatementRow[]> =>
    select<StatementRow>(
      tx,
      `select s.* from (${part.map(() => "select ? as key, ? as vulnerability").join(" union all ")}) as p
       join feed_statement_keys as k on k.key = p.key and k.vulnerability = p.vulnerability
       join feed_statements as s on s.feed = k.feed and s.record = k.record and s.n = k.n
       where ${time} order by s.time desc limit ${MAX_AT_ONCE}`,
      [...part.flat(), ...(atMs === undefined ? [] : [atMs, atMs])],
    );
  return await inParts(pairs, PAIRS_AT_ONCE, read, turn);
}

/** Whether any feed ever said anything that counts. */
export async function isAnythingStated(tx: Database): Promise<boolean> {
  return (await select(tx, "select 1 from feed_statement_keys limit 1", [])).length > 0;
}

/** Those of the keys by which any statement was ever found. */
export async function keysInUse(tx: Database, keys: readonly string[], turn?: Turn): Promise<string[]> {
  const all = [...new Set(keys)];
  const found: string[] = [];
  for (let at = 0; at < all.length; at += KEYS_AT_ONCE) {
    const part = all.slice(at, at + KEYS_AT_ONCE);
    const rows = await select<{ key: string }>(
      tx,
      `select p.key from (${part.map(() => "select ? as key").join(" union all ")}) as p
       where exists (select 1 from feed_statement_keys as k where k.key = p.key)`,
      part,
    );
    found.push(...rows.map(({ key }) => key));
    await turn?.();
  }
  return found;
}

async function inParts<T>(
  all: readonly T[],
  size: number,
  read: (part: readonly T[]) => Promise<StatementRow[]>,
  turn?: Turn,
): Promise<FeedStatement[]> {
  const found = new Map<string, FeedStatement>();
  for (let at = 0; at < all.length; at += size) {
    for (const row of await read(all.slice(at, at + size)))
      found.set(`${row.feed}\n${row.record}\n${row.n}`, statementOf(row));
    await turn?.();
  }
  return [...found.entries()]
    .sort(([one, a], [other, b]) => b.timeMs - a.timeMs || (one < other ? -1 : 1))
    .map(([, each]) => each);
}

function statementOf({ ids, status, time, since, remedies, ...row }: StatementRow): FeedStatement {
  const { feed, record, justification, impact, product, component, author } = row;
  return {
    feed,
    record,
    ids: JSON.parse(ids) as string[],
    status: status as VexStatus,
    justification,
    impact,
    product,
    component,
    author,
    remedies: remediesIn(remedies),
    timeMs: time,
    fromMs: since,
  };
}
