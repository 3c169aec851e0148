import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "../aip/page-query.ts";
import { type Condition, unindexed, within } from "../aip/scope.ts";
import type { Database } from "../store/index.ts";

/** A page of the log as the database is asked for it. */
export interface AuditQuery {
  /** Entries come from these and below. */
  roots: string[];
  /** Whether those come that are in no organization. */
  seesRest: boolean;
  /** Whether the filters name an identity, which has an index of its own. */
  isOfOne: boolean;
  page: PageQuery;
}

/** No more entries than these are counted, and one. */
export const MOST_COUNTED = 10_000n;
// So many entries of a group are sorted for a page; of more, those of its organization are read in their order until
// the page is full.
const MOST_SORTED = 20_000;
const MOST_BRANCHES = 50;

/**
 * Where entries come from: all of one organization by an index, or all below one uid. `isSorted`: what is found is
 * sorted.
 */
interface Branch {
  where: Condition;
  isSorted: boolean;
}

/**
 * One page and the number of all, counted to `MOST_COUNTED` and one. Each place is read by an index of its own, as far
 * as the page needs it, and the pages of all are put together: what the engine reads does not grow with the log.
 */
export async function queryAudit(db: Database, query: AuditQuery): Promise<FoundPage<Record<string, unknown>>> {
  const { filters, orders, after, limit, offset, scope } = query.page;
  const direction = orders[0]?.descending === false ? sql`asc` : sql`desc`;
  const branches = await branchesOf(db, query);
  if (branches.length === 0) return { rows: [], total: 0 };
  const matches = (branch: Branch): Condition => sql.join([branch.where, ...scope.conditions, ...filters], sql` and `);
  const order = (table: string, isSorted = false): RawBuilder<unknown> => {
    const [time, uid] = [sql.ref(`${table}.create_time`), sql.ref(`${table}.uid`)];
    return sql`order by ${isSorted ? unindexed(time) : time} ${direction}, ${isSorted ? unindexed(uid) : uid} ${direction}`;
  };
  const beyond =
    after === undefined
      ? sql``
      : sql`(t.create_time, t.uid) ${orders[0]?.descending === false ? sql`>` : sql`<`} (${sql.join(after)}) and`;
  const keys = branches.map(
    (
      branch,
      at,
    ) => sql`select * from (select t.uid, t.create_time from audit_entries as t where ${beyond} ${matches(branch)}
    ${order("t", branch.isSorted)} limit ${limit + offset}) as ${sql.ref(`b${at}`)}`,
  );
  const found = await sql<
    Record<string, unknown>
  >`select t.* from (select * from (${sql.join(keys, sql` union all `)}) as a ${order("a")} limit ${limit} offset ${offset}) as k
    join audit_entries as t on t.uid = k.uid ${order("k")}`.execute(db);
  const counted = branches.map(
    (branch, at) =>
      sql`select * from (select 1 as one from audit_entries as t where ${matches(branch)} limit ${MOST_COUNTED + 1n}) as ${sql.ref(`b${at}`)}`,
  );
  const {
    rows: [count],
  } = await sql<{
    n: number;
  }>`select count(*) as n from (select * from (${sql.join(counted, sql` union all `)}) as a limit ${MOST_COUNTED + 1n}) as c`.execute(
    db,
  );
  return { rows: found.rows, total: Number(count?.n ?? 0) };
}

async function branchesOf(db: Database, { roots, seesRest, isOfOne }: AuditQuery): Promise<Branch[]> {
  const inOrganization = (organization: string): Condition =>
    sql`${isOfOne ? unindexed(sql`t.organization`) : sql`t.organization`} = ${organization}`;
  const branches: Branch[] = seesRest ? [{ where: inOrganization(""), isSorted: false }] : [];
  // Nobody has so many groups that are apart; whoever does waits for all of them to be sorted.
  if (roots.length > MOST_BRANCHES) return [...branches, { where: within(roots), isSorted: true }];
  for (const root of roots) {
    const [organization = ""] = root.split("/", 1);
    if (organization === root) branches.push({ where: inOrganization(root), isSorted: false });
    else if (await hasMany(db, root))
      branches.push({
        where: sql`${inOrganization(organization)} and ${within([root], unindexed(sql`t.uid`))}`,
        isSorted: false,
      });
    else
      branches.push({
        where: sql`${within([root])} and ${unindexed(sql`t.organization`)} = ${organization}`,
        isSorted: true,
      });
  }
  return branches;
}

async function hasMany(db: Database, root: string): Promise<boolean> {
  const {
    rows: [row],
  } = await sql<{
    n: number;
  }>`select count(*) as n from (select 1 as one from audit_entries as t where ${within([root])} limit ${MOST_SORTED + 1}) as c`.execute(
    db,
  );
  return Number(row?.n ?? 0) > MOST_SORTED;
}
