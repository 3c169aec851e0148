import { type RawBuilder, sql } from "kysely";
import type { Database, Kind, ResourceTable } from "../store/index.ts";
import type { Order } from "./order.ts";
import { areGroups, type Condition, type Scope, within } from "./scope.ts";

/** A page as the database is asked for it. */
export interface PageQuery {
  scope: Scope;
  filters: Condition[];
  orders: Order[];
  /** The position the page starts behind: the sorting columns' values, then the uid. */
  after: (string | number)[] | undefined;
  limit: number;
  offset: number;
}

const IN_ANCESTRY: ReadonlySet<string> = new Set(["groups", "identities", "repos"]);

/** The rows of a page and how many there are over all pages. */
export async function queryPage(db: Database, table: ResourceTable, query: PageQuery): Promise<{ rows: Record<string, unknown>[]; total: number }> {
  const { scope, filters } = await settle(db, table, query);
  const plain = filters.length === 0 && scope.conditions.length === 0;
  if (plain && IN_ANCESTRY.has(table) && query.orders.length === 1 && query.orders[0]?.column === "name" && await areGroups(db, scope.roots)) {
    return byAncestry(db, table as Kind, scope.roots, query);
  }
  const conditions = [...scope.conditions, ...filters, ...(scope.parent === undefined && scope.everywhere !== true ? [within(scope.roots)] : [])];
  const rows = await run(db, sql`select t.* from ${sql.table(table)} as t where ${sql.join([...conditions, ...behind(query, "t")], sql` and `)}
    order by ${orderBy(query.orders, "t")} limit ${query.limit} offset ${query.offset}`);
  if (table === "tags" && scope.parent !== undefined && filters.length === 0 && scope.conditions.length === 1) {
    return { rows, total: await counted(db, "tags", [scope.parent]) };
  }
  const [count] = await run(db, sql`select count(*) as n from ${sql.table(table)} as t where ${sql.join(conditions, sql` and `)}`);
  return { rows, total: Number(count?.["n"] ?? 0) };
}

// All that is below a repo are its tags, and for those there is an index by parent.
async function settle(db: Database, table: ResourceTable, { scope, filters }: PageQuery): Promise<{ scope: Scope; filters: Condition[] }> {
  const [root] = scope.roots;
  if (table !== "tags" || root === undefined || scope.roots.length > 1 || scope.parent !== undefined) return { scope, filters };
  const repo = await db.selectFrom("repos").select("uid").where("uid", "=", root).executeTakeFirst();
  return repo === undefined ? { scope, filters } : { scope: { ...scope, parent: root, conditions: [...scope.conditions, sql`t.parent = ${root}`] }, filters };
}

async function byAncestry(db: Database, kind: Kind, roots: string[], query: PageQuery): Promise<{ rows: Record<string, unknown>[]; total: number }> {
  const conditions = [sql`a.kind = ${kind}`, roots.length === 1 ? sql`a.ancestor = ${roots[0]}` : sql`a.ancestor in (${sql.join(roots)})`, ...behind(query, "a")];
  const rows = await run(db, sql`select t.* from ancestry as a join ${sql.table(kind)} as t on t.uid = a.uid where ${sql.join(conditions, sql` and `)}
    order by ${orderBy(query.orders, "a")} limit ${query.limit} offset ${query.offset}`);
  return { rows, total: await counted(db, kind, roots) };
}

async function counted(db: Database, kind: Kind, ancestors: string[]): Promise<number> {
  const rows = await db.selectFrom("counters").select("n").where("kind", "=", kind).where("ancestor", "in", ancestors).execute();
  return rows.reduce((sum, { n }) => sum + Number(n), 0);
}

async function run(db: Database, query: RawBuilder<unknown>): Promise<Record<string, unknown>[]> {
  const { rows } = await query.execute(db);
  return rows as Record<string, unknown>[];
}

// Ties are broken by the uid, in the direction of the last field, so that one index serves both directions.
function orderBy(orders: Order[], table: string): RawBuilder<unknown> {
  const last = orders.at(-1)?.descending ?? false;
  const columns = [...orders, { column: "uid", descending: last }];
  return sql.join(columns.map(({ column, descending }) => (descending ? sql`${sql.ref(`${table}.${column}`)} desc` : sql`${sql.ref(`${table}.${column}`)}`)));
}

function behind({ orders, after }: PageQuery, table: string): Condition[] {
  if (after === undefined) return [];
  const last = orders.at(-1)?.descending ?? false;
  const steps = [...orders, { column: "uid", descending: last }].map(({ column, descending }, at) => ({ ref: sql.ref(`${table}.${column}`), descending, value: after[at] }));
  if (steps.every(({ descending }) => descending === last)) {
    const left = sql.join(steps.map(({ ref }) => ref));
    const right = sql.join(steps.map(({ value }) => value));
    return [last ? sql`(${left}) < (${right})` : sql`(${left}) > (${right})`];
  }
  const alternatives = steps.map(({ ref, descending, value }, at) => {
    const equal = steps.slice(0, at).map((step) => sql`${step.ref} = ${step.value}`);
    return sql`(${sql.join([...equal, descending ? sql`${ref} < ${value}` : sql`${ref} > ${value}`], sql` and `)})`;
  });
  return [sql`(${sql.join(alternatives, sql` or `)})`];
}
