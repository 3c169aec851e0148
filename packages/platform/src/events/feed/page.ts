import { fitting } from "@moorage/kernel/aip/page-bytes";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { type Bindable, type Database, select, statement } from "@moorage/kernel/store";
import { IS_UNTAGGED } from "../untagged-events.ts";
import type { FeedScope, Position } from "./cursor.ts";
import { expired, headOf, isOfHistory, markOf, otherHistory, type Place, placeAt } from "./history.ts";

/** The columns of an event that the feed reads. */
export interface FeedRow {
  seq: number;
  id: string;
  type: string;
  subject: string;
  parent: string;
  number: number;
  time: number;
  actor: string;
  body: string;
}

export interface FeedPage {
  rows: FeedRow[];
  /** The position after which the next page begins. */
  next: Position;
  /** Whether the next page may have events now. */
  more: boolean;
}

/**
 * The most events of the organization that one page examines, so that a page takes bounded time even if few of them are
 * in the scope.
 */
const MAX_EXAMINED = 2_000;
/** How many events of the organization the cursor `recent` reaches back. */
const MAX_RECENT = 1_000;

const selectGone = statement<{ number: number }>("select number from event_numbers where subject = ?");
const lookAhead = statement<{ last: number | null; n: number }>(
  "select max(seq) as last, count(*) as n from (select seq from events where organization = ? and seq > ? order by seq limit ?) as e",
);

const selectRecent = statement<{ first: number | null }>(
  "select min(seq) as first from (select seq from events where organization = ? order by seq desc limit ?) as e",
);

/** The position before the last events of the organization, at most MAX_RECENT of them. */
export async function recentOf(db: Database, organization: string): Promise<Position> {
  // Whoever begins here has missed nothing that is gone by now.
  const head = await headOf(db);
  const [first] = await selectRecent(db, organization, MAX_RECENT);
  const at = first === undefined || first.first === null ? head : await placeAt(db, Number(first.first) - 1);
  return { ...at, goneTo: head.seq };
}

/**
 * The subject under which `event_numbers` has the number of the newest event of the organization that was removed
 * because of its age.
 */
export function goneKey(organization: string): string {
  return `gone:${organization}`;
}

/**
 * The events of the scope after the position, in order, at most `limit`; without a position, from the oldest one.
 * `storedTypes`: type prefixes without the configured prefix. Throws FAILED_PRECONDITION with CURSOR_EXPIRED when
 * events after the position were removed, and when the database was replaced by an older copy of itself since.
 */
export async function readFeed(
  db: Database,
  scope: FeedScope,
  storedTypes: readonly string[],
  after: Position | undefined,
  limit: number,
): Promise<FeedPage> {
  const organization = organizationOf(scope.group);
  const from = after?.seq ?? 0;
  // The order of the queries matters: events up to the head are visible to the later ones, and the last one reports
  // every removal that the others may have met.
  const head = await headOf(db);
  if (after !== undefined && !(await isOfHistory(db, after, head))) throw otherHistory();
  const [ahead] = await lookAhead(db, organization, from, MAX_EXAMINED);
  const last = Number(ahead?.last ?? from);
  const rows =
    last === from ? [] : await rowsOf(db, scope, storedTypes, { organization, from, last, limit: limit + 1 });
  const gone = Number((await selectGone(db, goneKey(organization)))[0]?.number ?? 0);
  if (after !== undefined && gone > Math.max(after.seq, after.goneTo))
    throw expired("events after the cursor are not kept any more");
  // A page of large events has fewer of them.
  const read = fitting(rows.slice(0, limit));
  const isCut = read.length < rows.length;
  const more = isCut || Number(ahead?.n) >= MAX_EXAMINED;
  const seq = isCut ? Number(read.at(-1)?.seq) : more ? last : Math.max(last, head.seq);
  return { rows: read, next: { ...(await placeOf(db, seq, [after, head], read.at(-1))), goneTo: gone }, more };
}

/** The place of the number: by the last event that was read or one of the known places where that is the same. */
async function placeOf(
  db: Database,
  seq: number,
  known: readonly (Place | undefined)[],
  last: FeedRow | undefined,
): Promise<Place> {
  if (last !== undefined && Number(last.seq) === seq) return { seq, mark: markOf(last.id) };
  const same = known.find((place) => place?.seq === seq && place.mark !== undefined);
  return same === undefined ? await placeAt(db, seq) : { seq, mark: same.mark };
}

async function rowsOf(
  db: Database,
  { group, subjectPrefixes, taggedOnly }: FeedScope,
  storedTypes: readonly string[],
  { organization, from, last, limit }: { organization: string; from: number; last: number; limit: number },
): Promise<FeedRow[]> {
  const conditions = ["organization = ?", "seq > ?", "seq <= ?", "target = ''"];
  const parameters: Bindable[] = [organization, from, last];
  if (group !== organization) {
    // The uid of a descendant continues with "/", and "0" is the character after it.
    conditions.push("parent >= ? and parent < ?");
    parameters.push(group, `${group}0`);
  }
  for (const [column, prefixes] of [
    ["type", storedTypes],
    ["subject", subjectPrefixes],
  ] as const) {
    if (prefixes.length === 0) continue;
    conditions.push(`(${prefixes.map(() => `substr(${column}, 1, ?) = ?`).join(" or ")})`);
    parameters.push(...prefixes.flatMap((prefix) => [prefix.length, prefix]));
  }
  if (taggedOnly) conditions.push(`not ${IS_UNTAGGED}`);
  const text = `select seq, id, type, subject, parent, number, time, actor, body from events where ${conditions.join(" and ")} order by seq limit ?`;
  return await select<FeedRow>(db, text, [...parameters, limit]);
}
