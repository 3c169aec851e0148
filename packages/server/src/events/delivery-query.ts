import { DeliveryState } from "@moorage/api";
import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "../aip/page-query.ts";
import { type Condition, within } from "../aip/scope.ts";
import { isWithin, parentOf } from "../base/uid.ts";
import { invalidArgument } from "../errors.ts";
import type { Database } from "../store/index.ts";

/** No more deliveries than these are counted, and one. */
export const MOST_COUNTED = 10_000n;
// Each is read by itself, in one statement.
const MOST_SUBSCRIPTIONS = 400;

/** A page of deliveries as the database is asked for it. */
export interface DeliveryQuery {
  page: PageQuery;
  /** The filters leave few of all there are, and there is an index of what they ask for: it is looked up, and sorted. */
  isNarrow: boolean;
  /** Only those in this state; UNSPECIFIED: in any. */
  state: DeliveryState;
}

/**
 * One page and the number of all, counted to `MOST_COUNTED` and one. Those of each subscription are read by an index in the order of time, as far as the
 * page needs it: what the engine reads does not grow with the log. Throws INVALID_ARGUMENT on `uidp` for more subscriptions than can be read so.
 */
export async function queryDeliveries(db: Database, { page, isNarrow, state }: DeliveryQuery): Promise<FoundPage<Record<string, unknown>>> {
  const { filters, orders, after, limit, offset, scope } = page;
  const subscriptions = await subscriptionsIn(db, scope.roots);
  if (subscriptions.length === 0) return { rows: [], total: 0 };
  if (subscriptions.length > MOST_SUBSCRIPTIONS) {
    const description = `there are more than ${MOST_SUBSCRIPTIONS} subscriptions here: name one by children_of, or a group with fewer by descendants_of`;
    throw invalidArgument({ field: "uidp", description });
  }
  const conditions = [...scope.conditions, ...filters, ...(state === DeliveryState.UNSPECIFIED ? [] : [stateIs(state)])];
  const matches = (subscription: string): Condition => {
    const isWhole = scope.roots.some((root) => isWithin(subscription, root));
    return sql.join([sql`t.parent = ${subscription}`, ...(isWhole ? [] : [within(scope.roots, unindexed(sql`t.uid`))]), ...conditions], sql` and `);
  };
  const all = <T>(select: (where: Condition) => RawBuilder<T>): RawBuilder<unknown> =>
    sql.join(subscriptions.map((subscription, at) => sql`select * from (${select(matches(subscription))}) as ${sql.ref(`b${at}`)}`), sql` union all `);
  const counted = all((where) => sql`select 1 as one from deliveries as t where ${where} limit ${MOST_COUNTED + 1n}`);
  const { rows: [count] } = await sql<{ n: number }>`select count(*) as n from (select * from (${counted}) as a limit ${MOST_COUNTED + 1n}) as c`.execute(db);
  const total = Number(count?.n ?? 0);
  if (total === 0) return { rows: [], total };
  const descending = orders[0]?.descending !== false;
  // Few that an index finds are sorted; of many, the next ones are soon met on the way through time.
  const isSorted = isNarrow || (isOpen(state) && total <= MOST_COUNTED);
  const order = (table: string, sorts: boolean): RawBuilder<unknown> => {
    const [time, uid] = [sql.ref(`${table}.create_time`), sql.ref(`${table}.uid`)].map((ref) => (sorts ? unindexed(ref) : ref));
    return descending ? sql`order by ${time} desc, ${uid} desc` : sql`order by ${time}, ${uid}`;
  };
  const beyond = after === undefined ? sql`` : sql`(t.create_time, t.uid) ${descending ? sql`<` : sql`>`} (${sql.join(after)}) and`;
  const keys = all((where) => sql`select t.uid, t.create_time from deliveries as t where ${beyond} ${where} ${order("t", isSorted)} limit ${limit + offset}`);
  const { rows } = await sql<Record<string, unknown>>`select t.* from (select * from (${keys}) as a ${order("a", false)} limit ${limit} offset ${offset}) as k
    join deliveries as t on t.uid = k.uid ${order("k", false)}`.execute(db);
  return { rows, total };
}

/** Those that are there, at the roots and below, and the one that a root is a delivery of. What a deleted one has left is nobody's. */
async function subscriptionsIn(db: Database, roots: string[]): Promise<string[]> {
  if (roots.length === 0) return [];
  const { rows } = await sql<{ uid: string }>`select t.uid from subscriptions as t where ${within(roots)} or t.uid in (${sql.join(roots.map(parentOf))})
    limit ${MOST_SUBSCRIPTIONS + 1}`.execute(db);
  return rows.map(({ uid }) => uid);
}

function isOpen(state: DeliveryState): boolean {
  return state === DeliveryState.PENDING || state === DeliveryState.SENDING || state === DeliveryState.RETRYING;
}

/** Written out, for an index of a part of the table is taken only where it is seen to hold what is asked for. */
function stateIs(state: DeliveryState): Condition {
  const is = sql`t.state = ${sql.lit(Number(state))}`;
  return isOpen(state) ? sql`${is} and t.next_time is not null` : is;
}

// The same value, of which no engine looks for an index.
function unindexed(ref: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${ref}, ${ref})`;
}
