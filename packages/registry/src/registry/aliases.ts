import { Capability, type Repo } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import { columnIs } from "@moorage/kernel/aip/list";
import { type Condition, within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { alreadyExists, type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { type Database, statement } from "@moorage/kernel/store";

/**
 * Whether the JSON list in the column has the text. In a JSON list a quote that is not behind a backslash begins or
 * ends an element, so that `["text"` and `,"text"` are elements. Found by replacing, which every engine does byte by
 * byte.
 */
export function listHas(column: string, text: string): RawBuilder<unknown> {
  const [first, later] = elementsOf(text);
  const ref = sql.ref(column);
  return sql`(replace(${ref}, ${first}, '') <> ${ref} or replace(${ref}, ${later}, '') <> ${ref})`;
}

const elementsOf = (text: string): [first: string, later: string] => [
  `[${JSON.stringify(text)}`,
  `,${JSON.stringify(text)}`,
];

const HAS = "aliases <> '[]' and (replace(aliases, ?, '') <> aliases or replace(aliases, ?, '') <> aliases)";
// The partial index repos_aliased has the repos of a group that have aliases; most have none.
const selectAliased = statement<{ uid: string }>(
  `select uid from repos where parent = ? and ${HAS} order by create_time, uid limit 1`,
  ["text", "text", "text"],
);
const selectNamed = statement<{ uid: string }>("select uid from repos where parent = ? and name = ?");

/**
 * The uid of the repo of the group that has the alias; of several, of the one that was made first. Undefined when none
 * has.
 */
export async function repoOfAlias(tx: Database, parent: string, alias: string): Promise<string | undefined> {
  const [found] = await selectAliased(tx, parent, ...elementsOf(alias));
  return found?.uid;
}

// Asked first, since it is prepared once, and the statement of a list is composed at each call.
const selectAnyAliased = statement<{ uid: string }>("select uid from repos where aliases <> '[]' limit 1");

// So many are looked up for a list; beyond, the list looks for itself.
const MAX_LISTED = 100;

/**
 * The uids of the repos that the caller may list and that have the alias. Undefined when no name is asked for, and when
 * there are many.
 */
export async function reposOfAlias(call: Call, alias: string | undefined): Promise<string[] | undefined> {
  if (alias === undefined) return undefined;
  if ((await selectAnyAliased(call.tx)).length === 0) return [];
  const found = await call.tx
    .selectFrom("repos")
    .select("uid")
    .where("aliases", "<>", "[]")
    .where(within(await call.visible(Capability.CAP_REPO_LIST), sql`parent`) as RawBuilder<boolean>)
    .where(listHas("aliases", alias) as RawBuilder<boolean>)
    .limit(MAX_LISTED + 1)
    .execute();
  return found.length > MAX_LISTED ? undefined : found.map(({ uid }) => uid);
}

/**
 * The condition for a list of the repos that have the name, or the alias. `aliased`: what `reposOfAlias` found for it.
 * Where none has the alias, which is usual, the list is by the index of names alone.
 */
export function isNamed(name: string, aliased: string[] | undefined): Condition {
  const named = columnIs("name", name);
  if (aliased?.length === 0) return named;
  const have =
    aliased === undefined
      ? sql`select a.uid from repos as a where a.aliases <> '[]' and ${listHas("a.aliases", name)}`
      : sql.join(aliased);
  return sql`(${named} or t.uid in (${have}))`;
}

/** The repo as it is before a change; undefined for a new one. */
interface Before {
  uid: string;
  name: string;
  aliases: string;
}

/**
 * Keeps aliases and names of a group apart: throws ALREADY_EXISTS when the repo's new name is an alias of another
 * one, and INVALID_ARGUMENT on `aliases` for an alias that is a repo's name, its own included. Aliases that stay as
 * they were are compared with its own name only, since earlier versions took any.
 */
export async function checkNames(
  tx: Database,
  parent: string,
  { name, aliases }: Pick<Repo, "name" | "aliases">,
  before?: Before,
): Promise<void> {
  const isRenamed = name !== before?.name;
  if (isRenamed) {
    const other = await repoOfAlias(tx, parent, name);
    if (other !== undefined && other !== before?.uid) throw alreadyExists("moorage.registry.v2.Repo", name);
  }
  const old = new Set(before === undefined ? [] : (JSON.parse(before.aliases) as string[]));
  const violations: FieldViolation[] = [];
  for (const [at, alias] of aliases.entries()) {
    if (old.has(alias) && !isRenamed) continue;
    const [named] = alias === name || old.has(alias) ? [] : await selectNamed(tx, parent, alias);
    if (alias === name || (named !== undefined && named.uid !== before?.uid))
      violations.push({ field: `aliases[${at}]`, description: "is the name of a repo of the group" });
  }
  if (violations.length > 0) throw invalidArgument(...violations);
}
