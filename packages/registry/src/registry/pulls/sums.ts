import { PullGrouping } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "@moorage/kernel/store";

/** The columns by which pulls are summed up, in the order of the answer. */
const GROUP_COLUMNS = ["day", "repo", "digest", "tag", "identity"] as const;
export type GroupColumn = (typeof GROUP_COLUMNS)[number];

const COLUMN_OF: Readonly<Partial<Record<PullGrouping, GroupColumn>>> = {
  [PullGrouping.DAY]: "day",
  [PullGrouping.REPO]: "repo",
  [PullGrouping.TAG]: "tag",
  [PullGrouping.DIGEST]: "digest",
  [PullGrouping.IDENTITY]: "identity",
};

/** One sum. Of the columns it has those that it is by. */
export interface PullSum extends Partial<Record<Exclude<GroupColumn, "day">, string>> {
  day?: number;
  count: number | string;
  bytes: number | string;
  first_time: number | string;
  last_time: number | string;
}

/** The columns of the groupings, in the order of GROUP_COLUMNS; by day and repo without any. */
export function columnsOf(groupBy: readonly PullGrouping[]): GroupColumn[] {
  const named = new Set(groupBy.map((each) => COLUMN_OF[each]));
  return groupBy.length === 0 ? ["day", "repo"] : GROUP_COLUMNS.filter((column) => named.has(column));
}

/** A part of a WHERE clause over `pull_days as t`. */
export type PullCondition = RawBuilder<unknown>;

/** How many rows the conditions select, at most `max`. */
export async function countRows(db: Database, conditions: readonly PullCondition[], max: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (select 1 from pull_days as t where ${all(conditions)} limit ${max}) as c`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

/** The first sums after the position: the latest days first, then by the other columns. */
export async function sumsOf(
  db: Database,
  columns: readonly GroupColumn[],
  conditions: readonly PullCondition[],
  after: readonly (string | number)[] | undefined,
  limit: number,
): Promise<PullSum[]> {
  const refs = columns.map((column) => sql.ref(`t.${column}`));
  const order = columns.map((column) => sql`${sql.ref(`t.${column}`)} ${sql.raw(column === "day" ? "desc" : "asc")}`);
  const selected = [...refs, SUMS];
  const { rows } = await sql<PullSum>`
    select ${sql.join(selected)} from pull_days as t
    where ${all(after === undefined ? conditions : [...conditions, isAfter(columns, after)])}
    ${columns.length === 0 ? sql`having count(*) > 0` : sql`group by ${sql.join(refs)} order by ${sql.join(order)}`}
    limit ${limit}`.execute(db);
  return rows;
}

/** The position of a sum, for `after`. */
export function positionOf(columns: readonly GroupColumn[], sum: PullSum): (string | number)[] {
  return columns.map((column) => (column === "day" ? Number(sum.day) : (sum[column] ?? "")));
}

const SUMS = sql`sum(t.count) as count, sum(t.bytes) as bytes, min(t.first_time) as first_time, max(t.last_time) as last_time`;

function all(conditions: readonly PullCondition[]): PullCondition {
  return conditions.length === 0 ? sql`1 = 1` : sql.join(conditions, sql` and `);
}

function isAfter(columns: readonly GroupColumn[], after: readonly (string | number)[]): PullCondition {
  const [day, ...others] = columns[0] === "day" ? [after[0], ...after.slice(1)] : [undefined, ...after];
  const names = columns.filter((column) => column !== "day").map((column) => sql.ref(`t.${column}`));
  const rest = names.length === 0 ? sql`1 = 0` : sql`(${sql.join(names)}) > (${sql.join(others)})`;
  return day === undefined ? rest : sql`(t.day < ${day} or (t.day = ${day} and ${rest}))`;
}
