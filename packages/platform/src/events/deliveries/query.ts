import { DeliveryState } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import { type Condition, unindexed, within } from "@moorage/kernel/aip/scope";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { invalidArgument } from "@moorage/kernel/errors";
import type { Database } from "@moorage/kernel/store";

/** Deliveries are counted up to this number; a total of one more means that there are more. */
export const MAX_COUNTED = 10_000n;
// Each subscription is a branch of one statement.
const MAX_SUBSCRIPTIONS = 400;

/** The query for a page of deliveries. */
export interface DeliveryQuery {
  page: PageQuery;
  /**
   * Whether the filters match few deliveries and have an index of their own: the matches are looked up and then sorted.
   */
  isNarrow: boolean;
  /** Only deliveries in one of these states; empty for any. */
  states: readonly DeliveryState[];
}

/**
 * One page and the total, counted up to `MAX_COUNTED` and one. The deliveries of each subscription are read by an index
 * in the order of time, only as far as the page needs. The exceptions are rare types, and delivered ones where very
 * many wait: for these all deliveries of a subscription may be read. Throws INVALID_ARGUMENT on `uidp` if there are too
 * many subscriptions.
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
  const counted = all((where) => sql`select 1 as one from deliveries as t where ${where} limit ${MAX_COUNTED + 1n}`);
  const {
    rows: [count],
  } = await sql<{ n: number }>`select count(*) as n
    from (select * from (${counted}) as a limit ${MAX_COUNTED + 1n}) as c`.execute(db);
  const total = Number(count?.n ?? 0);
  if (total === 0) return { rows: [], total };
  const descending = orders[0]?.descending !== false;
  // A small number of matches is sorted; if there are many, reading in the order of time soon finds enough.
  const isSorted = isNarrow || (isOpen(states) && total <= MAX_COUNTED);
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

/** All matches by the filters' own index, of any subscription. */
function narrowBranch({ page: { filters, scope }, states }: DeliveryQuery): Condition {
  const owned = sql`exists (select 1 from subscriptions as s where s.uid = t.parent)`;
  return sql.join(
    [within(scope.roots, unindexed(sql`t.uid`)), ...scope.conditions, ...filters, ...stateIs(states), owned],
    sql` and `,
  );
}

/** One branch for each subscription. */
async function branchesOf(db: Database, { page: { filters, scope }, states }: DeliveryQuery): Promise<Condition[]> {
  const subscriptions = await subscriptionsIn(db, scope.roots);
  if (subscriptions.length > MAX_SUBSCRIPTIONS) {
    const description = `there are more than ${MAX_SUBSCRIPTIONS} subscriptions here: name one by children_of, or a group with fewer by descendants_of`;
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
 * The existing subscriptions at and below the roots, and those whose delivery a root is. Deliveries of deleted
 * subscriptions are not listed.
 */
async function subscriptionsIn(db: Database, roots: string[]): Promise<string[]> {
  if (roots.length === 0) return [];
  const { rows } = await sql<{
    uid: string;
  }>`select t.uid from subscriptions as t where ${within(roots)} or t.uid in (${sql.join(roots.map(parentOf))})
    limit ${MAX_SUBSCRIPTIONS + 1}`.execute(db);
  return rows.map(({ uid }) => uid);
}

const OPEN: ReadonlySet<DeliveryState> = new Set([
  DeliveryState.PENDING,
  DeliveryState.SENDING,
  DeliveryState.RETRYING,
]);

/** Whether the states are only those of deliveries that have not ended. */
function isOpen(states: readonly DeliveryState[]): boolean {
  return states.length > 0 && states.every((state) => OPEN.has(state));
}

/**
 * Matches the states; empty for any. They are literals, because a partial index is used only if the statement itself
 * shows that its condition holds.
 */
export function stateIs(states: readonly DeliveryState[]): Condition[] {
  const [first, ...others] = states.map((state) => sql.lit(Number(state)));
  if (first === undefined) return [];
  const is = others.length === 0 ? sql`t.state = ${first}` : sql`t.state in (${sql.join([first, ...others])})`;
  return isOpen(states) ? [is, sql`t.next_time is not null`] : [is];
}
