import { type RawBuilder, sql } from "kysely";
import type { Awaitable } from "../lib/awaitable.ts";
import {
  type Bindable,
  type Database,
  embeddedOf,
  type Kind,
  type ResourceTable,
  select,
  selectArrays,
  statement,
} from "../store/index.ts";
import type { Order } from "./order.ts";
import { fitting } from "./page-bytes.ts";
import { areGroups, type Condition, type Scope, within } from "./scope.ts";

/** The query for one page. */
export interface PageQuery {
  scope: Scope;
  filters: Condition[];
  orders: Order[];
  /**
   * Looks up the rows that match the filters and then sorts them. Otherwise the database may read the whole table in
   * the requested order until enough rows match: a page of a few rows then takes time in proportion to all the others.
   */
  sortsMatches?: boolean;
  /** The page starts after this position: the values of the sort columns, then the uid. */
  after: (string | number)[] | undefined;
  limit: number;
  offset: number;
  /**
   * Columns with texts that may be large. Before they are read for many rows their length is asked for, and a page ends
   * early where they are too large together. Defaults to none.
   */
  large?: readonly string[];
  /** Whether the total may be left out, as 0, where it would have to be counted row by row. */
  uncounted?: boolean;
}

/** The page size if the request sets none. */
export const DEFAULT_PAGE_SIZE = 50;

/** The rows of a page and how many there are over all pages. */
export interface FoundPage<R> {
  rows: R[];
  total: number;
  /** The page ends here although it has fewer rows than were asked for: more of them would be too large. */
  isCut?: boolean;
}
/** The columns to select from the table `t`, and the function that runs the query. */
interface Selection<R> {
  list: string;
  ask(text: string, parameters: readonly Bindable[]): Awaitable<R[]>;
}

const USUAL_LIMIT = DEFAULT_PAGE_SIZE + 1;
// Up to this number of tags are sorted for a page. Beyond it, tags are read in the order of their names until the page
// is full, which is slow only where other groups have many times more tags.
const MAX_SORTED = 20_000;
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
  const { large = [], limit } = query;
  // So few rows are read in one step, however large they are, and looked at afterwards.
  if (large.length === 0 || limit <= USUAL_LIMIT) return findAll(db, table, query, selection);
  for (;;) {
    const sizes = await findAll(db, table, query, {
      list: `t.uid, ${large.map((column) => `coalesce(octet_length(t.${column}), 0)`).join(" + ")} as bytes`,
      ask: (text, parameters) => select(db, text, parameters),
    });
    const kept = fitting(sizes.rows, ({ bytes }) => Number(bytes));
    const isCut = kept.length < sizes.rows.length;
    const { rows } = await findAll(db, table, { ...query, limit: kept.length, uncounted: true }, selection);
    // All rows of the page may be gone meanwhile, and those behind them must not be missed.
    if (rows.length > 0 || !isCut) return { rows, total: sizes.total, ...(isCut && { isCut }) };
  }
}

async function findAll<R>(
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
  // Set when the list has all tags of one repo. Those have a counter, and in the order of their uids they are a range
  // of the primary key.
  const repo = table === "tags" && filters.length === 0 && scope.conditions.length === 1 ? scope.parent : undefined;
  const whole =
    repo !== undefined
      ? [repo]
      : table === "tags" && plain && (await areGroups(db, scope.roots))
        ? scope.roots
        : undefined;
  const total = whole && (await counted(db, "tags", whole));
  const by = query.orders[0]?.column;
  // Tags of several repos, sorted by name: a small number is sorted. If there are many, reading all tags in the order
  // of their names soon finds enough of them.
  const isAcross = whole !== undefined && repo === undefined && by === "name";
  const walks = isAcross && total !== undefined && total > MAX_SORTED;
  const isRange = repo !== undefined && by === "uid" && (await isRepo(db, repo));
  // PostgreSQL has statistics and chooses by itself.
  const uid = walks && embeddedOf(db) !== undefined ? unindexed(sql`t.uid`) : undefined;
  const below = scope.parent === undefined && scope.everywhere !== true ? [within(scope.roots, uid)] : [];
  const place = isRange ? [within([repo])] : [...scope.conditions, ...below];
  const conditions = [...place, ...filters];
  const steps = stepsOf({ ...query, ...(isAcross && { sortsMatches: !walks }) });
  // Of two lower (or two upper) bounds on a column, SQLite uses the first for the index.
  const after = query.after === undefined ? [] : [behind(steps, query.after)];
  const { sql: text, parameters } =
    sql`select ${sql.raw(selection.list)} from ${sql.table(table)} as t where ${sql.join([...after, ...conditions], sql` and `)}
    order by ${orderBy(steps)} limit ${query.limit} offset ${query.offset}`.compile(db);
  // Conditions bind only text and numbers.
  const rows = await selection.ask(text, parameters as readonly Bindable[]);
  if (total !== undefined || query.uncounted === true) return { rows, total: total ?? 0 };
  const count = await sql<{
    n: number;
  }>`select count(*) as n from ${sql.table(table)} as t where ${sql.join(conditions, sql` and `)}`.execute(db);
  return { rows, total: Number(count.rows[0]?.n ?? 0) };
}

// Everything below a repo is its tags, and those have an index by parent.
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

const selectRepo = statement("select uid from repos where uid = ?", ["text"]);

async function isRepo(db: Database, uid: string): Promise<boolean> {
  return (await selectRepo(db, uid)).length > 0;
}

// The most frequent list, so its SQL is built by hand: compiling a query with Kysely takes as long as reading the page.
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
  // SQLite takes a fifth less time for a limit that is part of the statement: the usual limit is written into the text.
  const isUsual = limit === USUAL_LIMIT && offset === 0;
  const order = `order by a.name${direction}, a.uid${direction}`;
  const found = `from ancestry as a where a.kind = ? and a.ancestor ${isIn(roots)}${behind} ${order} limit`;
  // Skipped rows are skipped in the index, without reading the table.
  const text = isUsual
    ? `select ${list} ${found.replace(" where", ` join ${kind} as t on t.uid = a.uid where`)} ${limit}`
    : `select ${list} from (select a.name, a.uid ${found} ? offset ?) as a join ${kind} as t on t.uid = a.uid ${order}`;
  const rows = await ask(text, [kind, ...roots, ...(after ?? []), ...(isUsual ? [] : [limit, offset])]);
  return { rows, total: await counted(db, kind, roots) };
}

const selectCount = statement<{ n: number }>("select n from counters where kind = ? and ancestor = ?", [
  "text",
  "text",
]);

async function counted(db: Database, kind: Kind, ancestors: readonly string[]): Promise<number> {
  const [only] = ancestors;
  if (only !== undefined && ancestors.length === 1) return Number((await selectCount(db, kind, only))[0]?.n ?? 0);
  const rows = await select(db, `select n from counters where kind = ? and ancestor ${isIn(ancestors)}`, [
    kind,
    ...ancestors,
  ]);
  return rows.reduce((sum, { n }) => sum + Number(n), 0);
}

/** The right side of `x = ?` or `x in (?, ?)`. For a list the database makes another plan: it sorts what it finds. */
function isIn(values: readonly unknown[]): string {
  return values.length === 1 ? "= ?" : `in (${values.map(() => "?").join(", ")})`;
}

/** One sort criterion. */
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

// The same value, in a form for which no database uses an index.
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
