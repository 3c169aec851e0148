import { DeliveryState } from "@moorage/api";
import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "../../aip/page-query.ts";
import { type Condition, unindexed, within } from "../../aip/scope.ts";
import { isWithin, parentOf } from "../../lib/uid.ts";
import { invalidArgument } from "../../errors.ts";
import type { Database } from "../../store/index.ts";

/** No more deliveries than these are counted, and one. */
export const MOST_COUNTED = 10_000n;
// Each is read by itself, in one statement.
const MOST_SUBSCRIPTIONS = 400;

/** A page of deliveries as the database is asked for it. */
export interface DeliveryQuery {
  page: PageQuery;
  /**
   * The filters leave few of all there are, and there is an index of what they ask for: it is looked up, and sorted.
   */
  isNarrow: boolean;
  /** Only those in one of these states; none: in any. */
  states: readonly DeliveryState[];
}

/**
 * One page and the number of all, counted to `MOST_COUNTED` and one. Those of each subscription are read by an index in
 * the order of time, as far as the page needs it: only rare types, and the few that were delivered where very many
 * wait, are looked for among all that a subscription has. Throws INVALID_ARGUMENT on `uidp` for more subscriptions than
 * can be read so.
 */
export async function queryDeliveries(db: Database, query: DeliveryQuery): Promise<FoundPage<Record<string, unknown>>> {
  const {
    page: { orders, after, limit, offset },
    isNarrow,
    states,
  } = query;
  const branches = isNarrow ? [narrowBranch(query)] : await branchesOf(db, query);
  if (branches.length === 0) return { rows: [], total: 0 };
  const all = (select: (where: Condition) => RawBuilder<unknown>): RawBuilder<unknown> =>
    sql.join(
      branches.map((branch, at) => sql`select * from (${select(branch)}) as ${sql.ref(`b${at}`)}`),
      sql` union all `,
    );
  const counted = all((where) => sql`select 1 as one from deliveries as t where ${where} limit ${MOST_COUNTED + 1n}`);
  const {
    rows: [count],
  } = await sql<{ n: number }>`select count(*) as n
    from (select * from (${counted}) as a limit ${MOST_COUNTED + 1n}) as c`.execute(db);
  const total = Number(count?.n ?? 0);
  if (total === 0) return { rows: [], total };
  const descending = orders[0]?.descending !== false;
  // Few that an index finds are sorted; of many, the next ones are soon met on the way through time.
  const isSorted = isNarrow || (isOpen(states) && total <= MOST_COUNTED);
  const order = (table: string, sorts: boolean): RawBuilder<unknown> => {
    const [time, uid] = [sql.ref(`${table}.create_time`), sql.ref(`${table}.uid`)].map((ref) =>
      sorts ? unindexed(ref) : ref,
    );
    return descending ? sql`order by ${time} desc, ${uid} desc` : sql`order by ${time}, ${uid}`;
  };
  const beyond =
    after === undefined ? sql`` : sql`(t.create_time, t.uid) ${descending ? sql`<` : sql`>`} (${sql.join(after)}) and`;
  const keys = all(
    (where) =>
      sql`select t.uid, t.create_time from deliveries as t where ${beyond} ${where} ${order("t", isSorted)} limit ${limit + offset}`,
  );
  const { rows } = await sql<
    Record<string, unknown>
  >`select t.* from (select * from (${keys}) as a ${order("a", false)} limit ${limit} offset ${offset}) as k
    join deliveries as t on t.uid = k.uid ${order("k", false)}`.execute(db);
  return { rows, total };
}

/** What is asked for by its own index, of whatever subscription it is. */
function narrowBranch({ page: { filters, scope }, states }: DeliveryQuery): Condition {
  const owned = sql`exists (select 1 from subscriptions as s where s.uid = t.parent)`;
  return sql.join(
    [within(scope.roots, unindexed(sql`t.uid`)), ...scope.conditions, ...filters, ...stateIs(states), owned],
    sql` and `,
  );
}

/** Each subscription by itself. */
async function branchesOf(db: Database, { page: { filters, scope }, states }: DeliveryQuery): Promise<Condition[]> {
  const subscriptions = await subscriptionsIn(db, scope.roots);
  if (subscriptions.length > MOST_SUBSCRIPTIONS) {
    const description = `there are more than ${MOST_SUBSCRIPTIONS} subscriptions here: name one by children_of, or a group with fewer by descendants_of`;
    throw invalidArgument({ field: "uidp", description });
  }
  return subscriptions.map((subscription) => {
    const isWhole = scope.roots.some((root) => isWithin(subscription, root));
    const place = isWhole ? [] : [within(scope.roots, unindexed(sql`t.uid`))];
    return sql.join(
      [sql`t.parent = ${subscription}`, ...place, ...scope.conditions, ...filters, ...stateIs(states)],
      sql` and `,
    );
  });
}

/**
 * Those that are there, at the roots and below, and the one that a root is a delivery of. What a deleted one has left
 * is nobody's.
 */
async function subscriptionsIn(db: Database, roots: string[]): Promise<string[]> {
  if (roots.length === 0) return [];
  const { rows } = await sql<{
    uid: string;
  }>`select t.uid from subscriptions as t where ${within(roots)} or t.uid in (${sql.join(roots.map(parentOf))})
    limit ${MOST_SUBSCRIPTIONS + 1}`.execute(db);
  return rows.map(({ uid }) => uid);
}

const OPEN: ReadonlySet<DeliveryState> = new Set([
  DeliveryState.PENDING,
  DeliveryState.SENDING,
  DeliveryState.RETRYING,
]);

/** Whether only such are asked for as have not ended. */
function isOpen(states: readonly DeliveryState[]): boolean {
  return states.length > 0 && states.every((state) => OPEN.has(state));
}

/**
 * Written out, for an index of a part of the table is taken only where it is seen to hold what is asked for. None: in
 * any state.
 */
export function stateIs(states: readonly DeliveryState[]): Condition[] {
  const [first, ...others] = states.map((state) => sql.lit(Number(state)));
  if (first === undefined) return [];
  const is = others.length === 0 ? sql`t.state = ${first}` : sql`t.state in (${sql.join([first, ...others])})`;
  return isOpen(states) ? [is, sql`t.next_time is not null`] : [is];
}
