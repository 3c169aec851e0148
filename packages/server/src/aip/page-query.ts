import { type RawBuilder, sql } from "kysely";
import {
  type Bindable,
  type Database,
  embeddedOf,
  type Kind,
  type ResourceTable,
  select,
  selectArrays,
} from "../store/index.ts";
import type { Order } from "./order.ts";
import { areGroups, type Condition, type Scope, within } from "./scope.ts";

/** A page as the database is asked for it. */
export interface PageQuery {
  scope: Scope;
  filters: Condition[];
  orders: Order[];
  /**
   * The rows that match the filters are looked up and then sorted. Otherwise the engine may well read all that there is
   * in the order asked for, until it has met enough that match: a page of a few then takes as long as there is much
   * else.
   */
  sortsMatches?: boolean;
  /** The position the page starts behind: the sorting columns' values, then the uid. */
  after: (string | number)[] | undefined;
  limit: number;
  offset: number;
}

/** What a list answers when it is not asked for another number. */
export const DEFAULT_PAGE_SIZE = 50;

/** The rows of a page and how many there are over all pages. */
export interface FoundPage<R> {
  rows: R[];
  total: number;
}
/** What is selected of the rows of the table `t`, and how they come. */
interface Selection<R> {
  list: string;
  ask(text: string, parameters: readonly Bindable[]): Promise<R[]>;
}

const USUAL_LIMIT = DEFAULT_PAGE_SIZE + 1;
// So many tags are sorted for a page; of more, the names are read in their order. That takes long only where others
// have very many more.
const MOST_SORTED = 20_000;
const IN_ANCESTRY: ReadonlySet<string> = new Set(["groups", "identities", "repos"]);

/** A page of whole rows, as objects. */
export function queryPage(
  db: Database,
  table: ResourceTable,
  query: PageQuery,
): Promise<FoundPage<Record<string, unknown>>> {
  return find(db, table, query, { list: "t.*", ask: (text, parameters) => select(db, text, parameters) });
}

/** A page of rows of these columns, as arrays. */
export function queryPageArrays(
  db: Database,
  table: ResourceTable,
  query: PageQuery,
  columns: readonly string[],
): Promise<FoundPage<unknown[]>> {
  return find(db, table, query, {
    list: columns.map((column) => `t.${column}`).join(", "),
    ask: (text, parameters) => selectArrays(db, text, parameters, columns),
  });
}

async function find<R>(
  db: Database,
  table: ResourceTable,
  query: PageQuery,
  selection: Selection<R>,
): Promise<FoundPage<R>> {
  const { scope, filters } = await settle(db, table, query);
  const plain = filters.length === 0 && scope.conditions.length === 0;
  if (
    plain &&
    IN_ANCESTRY.has(table) &&
    query.orders.length === 1 &&
    query.orders[0]?.column === "name" &&
    (await areGroups(db, scope.roots))
  ) {
    return byAncestry(db, table as Kind, scope.roots, query, selection);
  }
  // Set for all tags of one repo: there is a counter of them, and in the order of their uids they are a part of the
  // primary key.
  const repo = table === "tags" && filters.length === 0 && scope.conditions.length === 1 ? scope.parent : undefined;
  const whole =
    repo !== undefined
      ? [repo]
      : table === "tags" && plain && (await areGroups(db, scope.roots))
        ? scope.roots
        : undefined;
  const total = whole && (await counted(db, "tags", whole));
  const by = query.orders[0]?.column;
  // Those of many repos in the order of their names: few are sorted; of many, the next ones are soon met among all
  // there are.
  const isAcross = whole !== undefined && repo === undefined && by === "name";
  const walks = isAcross && total !== undefined && total > MOST_SORTED;
  const isRange = repo !== undefined && by === "uid" && (await isRepo(db, repo));
  // PostgreSQL knows how many there are and chooses by itself.
  const uid = walks && embeddedOf(db) !== undefined ? unindexed(sql`t.uid`) : undefined;
  const below = scope.parent === undefined && scope.everywhere !== true ? [within(scope.roots, uid)] : [];
  const place = isRange ? [within([repo])] : [...scope.conditions, ...below];
  const conditions = [...place, ...filters];
  const steps = stepsOf({ ...query, ...(isAcross && { sortsMatches: !walks }) });
  // Of two bounds on one side SQLite goes by the first.
  const after = query.after === undefined ? [] : [behind(steps, query.after)];
  const { sql: text, parameters } =
    sql`select ${sql.raw(selection.list)} from ${sql.table(table)} as t where ${sql.join([...after, ...conditions], sql` and `)}
    order by ${orderBy(steps)} limit ${query.limit} offset ${query.offset}`.compile(db);
  // All that stands in conditions is text and numbers.
  const rows = await selection.ask(text, parameters as readonly Bindable[]);
  if (total !== undefined) return { rows, total };
  const count = await sql<{
    n: number;
  }>`select count(*) as n from ${sql.table(table)} as t where ${sql.join(conditions, sql` and `)}`.execute(db);
  return { rows, total: Number(count.rows[0]?.n ?? 0) };
}

// All that is below a repo are its tags, and for those there is an index by parent.
async function settle(
  db: Database,
  table: ResourceTable,
  { scope, filters }: PageQuery,
): Promise<{ scope: Scope; filters: Condition[] }> {
  const [root] = scope.roots;
  if (table !== "tags" || root === undefined || scope.roots.length > 1 || scope.parent !== undefined)
    return { scope, filters };
  if (!(await isRepo(db, root))) return { scope, filters };
  return { scope: { ...scope, parent: root, conditions: [...scope.conditions, sql`t.parent = ${root}`] }, filters };
}

async function isRepo(db: Database, uid: string): Promise<boolean> {
  return (await select(db, "select uid from repos where uid = ?", [uid])).length > 0;
}

// The list that is asked for most, so its text is put together by hand: compiling a query takes as long as reading the
// page.
async function byAncestry<R>(
  db: Database,
  kind: Kind,
  roots: readonly string[],
  { orders, after, limit, offset }: PageQuery,
  { list, ask }: Selection<R>,
): Promise<FoundPage<R>> {
  const descending = orders[0]?.descending === true;
  const [direction, beyond] = descending ? [" desc", "<"] : ["", ">"];
  const behind = after === undefined ? "" : ` and (a.name, a.uid) ${beyond} (?, ?)`;
  // SQLite takes a fifth less time for a limit that it knows beforehand: the usual one is written out.
  const isUsual = limit === USUAL_LIMIT && offset === 0;
  const order = `order by a.name${direction}, a.uid${direction}`;
  const found = `from ancestry as a where a.kind = ? and a.ancestor ${isIn(roots)}${behind} ${order} limit`;
  // What is passed over is passed over in the index alone.
  const text = isUsual
    ? `select ${list} ${found.replace(" where", ` join ${kind} as t on t.uid = a.uid where`)} ${limit}`
    : `select ${list} from (select a.name, a.uid ${found} ? offset ?) as a join ${kind} as t on t.uid = a.uid ${order}`;
  const rows = await ask(text, [kind, ...roots, ...(after ?? []), ...(isUsual ? [] : [limit, offset])]);
  return { rows, total: await counted(db, kind, roots) };
}

async function counted(db: Database, kind: Kind, ancestors: readonly string[]): Promise<number> {
  const rows = await select(db, `select n from counters where kind = ? and ancestor ${isIn(ancestors)}`, [
    kind,
    ...ancestors,
  ]);
  return rows.reduce((sum, { n }) => sum + Number(n), 0);
}

/** The rest of `x = ?` or `x in (?, ?)`. A list is another plan than a value: the engine sorts what it finds. */
function isIn(values: readonly unknown[]): string {
  return values.length === 1 ? "= ?" : `in (${values.map(() => "?").join(", ")})`;
}

/** What is sorted by, one after the other. */
interface Step {
  ref: RawBuilder<unknown>;
  descending: boolean;
}

// Ties are broken by the uid, in the direction of the last field, so that one index serves both directions.
function stepsOf({ orders, sortsMatches }: PageQuery): Step[] {
  const columns = [...orders, { column: "uid", descending: orders.at(-1)?.descending ?? false }];
  const refOf = (ref: RawBuilder<unknown>): RawBuilder<unknown> => (sortsMatches === true ? unindexed(ref) : ref);
  return columns.map(({ column, descending }) => ({ ref: refOf(sql.ref(`t.${column}`)), descending }));
}

// The same value, of which no engine looks for an index.
function unindexed(ref: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${ref}, ${ref})`;
}

function orderBy(steps: Step[]): RawBuilder<unknown> {
  return sql.join(steps.map(({ ref, descending }) => (descending ? sql`${ref} desc` : ref)));
}

function behind(steps: Step[], after: (string | number)[]): Condition {
  const last = steps.at(-1)?.descending;
  if (steps.every(({ descending }) => descending === last)) {
    const left = sql.join(steps.map(({ ref }) => ref));
    return last === true ? sql`(${left}) < (${sql.join(after)})` : sql`(${left}) > (${sql.join(after)})`;
  }
  const alternatives = steps.map(({ ref, descending }, at) => {
    const equal = steps.slice(0, at).map((step, before) => sql`${step.ref} = ${after[before]}`);
    return sql`(${sql.join([...equal, descending ? sql`${ref} < ${after[at]}` : sql`${ref} > ${after[at]}`], sql` and `)})`;
  });
  return sql`(${sql.join(alternatives, sql` or `)})`;
}
