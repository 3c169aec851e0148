import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import { type Condition, unindexed, within } from "@moorage/kernel/aip/scope";
import type { Database } from "@moorage/kernel/store";

/** The query for a page of the audit log. */
export interface AuditQuery {
  /** The page has entries of these uids and below. */
  roots: string[];
  /** Whether it also has entries of no organization. */
  seesRest: boolean;
  /** Whether the filters name an identity, which has its own index. */
  hasIdentity: boolean;
  page: PageQuery;
}

/** Entries are counted up to this number; a total of one more means that there are more. */
export const MAX_COUNTED = 10_000n;
// Up to this number of entries of a group are sorted for a page. If a group has more, the entries of its organization
// are read in order until the page is full.
const MAX_SORTED = 20_000;
const MAX_BRANCHES = 50;

/**
 * A source of entries: all of one organization by its index, or all below one uid. `isSorted`: the matches are looked
 * up first and then sorted.
 */
interface Branch {
  where: Condition;
  isSorted: boolean;
}

/**
 * One page and the total, counted up to `MAX_COUNTED` and one. Each branch is read by its own index, only as far as the
 * page needs, and the results are merged: the time for a page does not grow with the log.
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
      sql`select * from (select 1 as one from audit_entries as t where ${matches(branch)} limit ${MAX_COUNTED + 1n}) as ${sql.ref(`b${at}`)}`,
  );
  const {
    rows: [count],
  } = await sql<{
    n: number;
  }>`select count(*) as n from (select * from (${sql.join(counted, sql` union all `)}) as a limit ${MAX_COUNTED + 1n}) as c`.execute(
    db,
  );
  return { rows: found.rows, total: Number(count?.n ?? 0) };
}

async function branchesOf(db: Database, { roots, seesRest, hasIdentity }: AuditQuery): Promise<Branch[]> {
  const inOrganization = (organization: string): Condition =>
    sql`${hasIdentity ? unindexed(sql`t.organization`) : sql`t.organization`} = ${organization}`;
  const branches: Branch[] = seesRest ? [{ where: inOrganization(""), isSorted: false }] : [];
  // So many separate groups are not usual; all their entries are sorted.
  if (roots.length > MAX_BRANCHES) return [...branches, { where: within(roots), isSorted: true }];
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
  }>`select count(*) as n from (select 1 as one from audit_entries as t where ${within([root])} limit ${MAX_SORTED + 1}) as c`.execute(
    db,
  );
  return Number(row?.n ?? 0) > MAX_SORTED;
}
