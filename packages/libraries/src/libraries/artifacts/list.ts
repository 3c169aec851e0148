import type { Capability } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import { type FoundPage, type PageQuery, queryPageArrays } from "@moorage/kernel/aip/page-query";
import { areGroups, type Condition, within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import type { Cells } from "@moorage/kernel/core/stored-answer";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { type Database, select, selectArrays } from "@moorage/kernel/store";
import { kindOf } from "../ecosystem/ecosystem.ts";
import { searched } from "./words.ts";

// Statements with more ranges take long to plan.
const MAX_RANGES = 50;
const LAST_CHARACTER = "\u{10FFFF}";

/**
 * A page of artifacts of these ecosystems. By name, and without another filter, it is a range of the index by ancestor
 * for each ecosystem, and its total the sum of their counters: neither depends on how many artifacts there are.
 */
export async function queryArtifacts(
  db: Database,
  ecosystems: readonly number[],
  query: PageQuery,
  columns: readonly string[],
): Promise<FoundPage<Cells>> {
  const { scope, filters, orders } = query;
  const isPlain = filters.length === 0 && scope.conditions.length === 0;
  const isByName = orders.length === 1 && orders[0]?.column === "name";
  const ranges = scope.roots.length * ecosystems.length;
  if (isPlain && isByName && ranges <= MAX_RANGES && (await areGroups(db, scope.roots)))
    return byAncestry(db, ecosystems, query, columns);
  const ofThese = sql`t.ecosystem in (${sql.join([...ecosystems])})`;
  return await queryPageArrays(db, "artifacts", { ...query, filters: [...filters, ofThese] }, columns);
}

async function byAncestry(
  db: Database,
  ecosystems: readonly number[],
  { scope, orders, after, limit, offset }: PageQuery,
  columns: readonly string[],
): Promise<FoundPage<Cells>> {
  const [direction, beyond] = orders[0]?.descending === true ? [" desc", "<"] : ["", ">"];
  const order = `order by name${direction}, uid${direction}`;
  const behind = after === undefined ? "" : ` and (name, uid) ${beyond} (?, ?)`;
  const range = `select * from (select name, uid from ancestry where kind = ? and ancestor = ?${behind} ${order} limit ?) as r`;
  const kinds = ecosystems.map(kindOf);
  const places = kinds.flatMap((kind) => scope.roots.map((root) => ({ kind, root })));
  const parameters = places.flatMap(({ kind, root }) => [kind, root, ...(after ?? []), limit + offset]);
  const list = columns.map((column) => `t.${column}`).join(", ");
  const text = `select ${list} from (select name, uid from (${places.map(() => range).join(" union all ")}) as u ${order} limit ? offset ?) as a
    join artifacts as t on t.uid = a.uid order by t.name${direction}, t.uid${direction}`;
  const rows = places.length === 0 ? [] : await selectArrays(db, text, [...parameters, limit, offset], columns);
  return { rows, total: await counted(db, kinds, scope.roots) };
}

async function counted(db: Database, kinds: readonly string[], ancestors: readonly string[]): Promise<number> {
  if (kinds.length === 0 || ancestors.length === 0) return 0;
  const marks = (values: readonly string[]): string => values.map(() => "?").join(", ");
  const rows = await select<{ n: number }>(
    db,
    `select n from counters where kind in (${marks(kinds)}) and ancestor in (${marks(ancestors)})`,
    [...kinds, ...ancestors],
  );
  return rows.reduce((sum, { n }) => sum + Number(n), 0);
}

/** How many artifacts of the ecosystem there are where the caller holds the capabilities. */
export async function countArtifacts(
  call: Call,
  ecosystem: number,
  capabilities: readonly Capability[],
): Promise<number> {
  const roots = await call.visible(...capabilities);
  if (roots.length <= MAX_RANGES && (await areGroups(call.tx, roots)))
    return await counted(call.tx, [kindOf(ecosystem)], roots);
  const { rows } = await sql<{ n: number }>`select count(*) as n from artifacts as t
    where t.ecosystem = ${ecosystem} and ${within(roots)}`.execute(call.tx);
  return Number(rows[0]?.n ?? 0);
}

/** The artifacts of which a word begins with the text, in these organizations. */
export function isFoundBy(query: string, ecosystems: readonly number[], organizations: readonly string[]): Condition {
  if (organizations.length === 0) return sql`1 = 0`;
  const text = searched(query);
  return sql`t.uid in (select w.artifact from artifact_words as w where w.organization in (${sql.join([...organizations])})
    and w.ecosystem in (${sql.join([...ecosystems])}) and w.word >= ${text} and w.word < ${text + LAST_CHARACTER})`;
}

/** The artifacts with a version that was built for a version of CUDA: `12.1` and `121` are the same. */
export function isBuiltFor(cudaVersion: string): Condition {
  const digits = cudaVersion.replaceAll(/[^0-9]/g, "");
  const built: RawBuilder<unknown> = sql`t.uid in (select v.parent from artifact_versions as v where v.cuda = ${digits} and v.cuda <> '')`;
  return digits === "" ? sql`1 = 0` : built;
}

/** The organizations that groups are in, each once. */
export function organizationsOf(groups: readonly string[]): string[] {
  return [...new Set(groups.map(organizationOf))];
}
