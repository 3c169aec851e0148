import type { UIDPFilter } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import { ancestorsOf, isUid, isWithin, parentOf } from "../lib/uid.ts";
import { type Database, select, snapshotCaches, statement } from "../store/index.ts";

/** A part of a WHERE clause over the table `t`. */
export type Condition = RawBuilder<unknown>;

/** The part of the hierarchy that a list answers with. */
export interface Scope {
  /** The list has resources at and below these uids; if empty, none. */
  roots: string[];
  /** Set when all resources of the list are direct children of one parent; `roots` then needs no condition. */
  parent?: string;
  /** Set when `conditions` alone select the resources, without regard to `roots`. */
  everywhere?: boolean;
  /** The other conditions of the filter. */
  conditions: Condition[];
}

/**
 * Applies the filter to the groups that the caller may list from. A malformed uid matches nothing. Source:
 * docs/contract.md, "Resource names".
 */
export function scopeOf(filter: UIDPFilter | undefined, visible: string[]): Scope {
  const {
    ancestorsOf: under = "",
    descendantsOf: above = "",
    childrenOf: parent = "",
    inRoot = false,
    ids = [],
  } = filter ?? {};
  const conditions: Condition[] = [];
  const given = [under, above, parent].filter((uid) => uid !== "");
  if (!given.every(isUid)) return { roots: [], conditions: [sql`1 = 0`] };
  let roots = above === "" ? visible : narrow(visible, above);
  if (parent !== "") {
    // If the parent is not visible itself, only those of its children that are roots are visible. If there are none,
    // the answer is known without a query.
    roots = roots.some((root) => isWithin(parent, root)) ? [parent] : roots.filter((root) => parentOf(root) === parent);
    conditions.push(sql`t.parent = ${parent}`);
  }
  if (under !== "") {
    const ancestors = ancestorsOf(under);
    conditions.push(ancestors.length === 0 ? sql`1 = 0` : sql`t.uid in (${sql.join(ancestors)})`);
  }
  if (inRoot) conditions.push(sql`t.parent = ''`);
  if (ids.length > 0) {
    const known = ids.filter(isUid);
    conditions.push(known.length === 0 ? sql`1 = 0` : sql`t.uid in (${sql.join(known)})`);
  }
  return roots.length === 1 && parent !== "" && roots[0] === parent
    ? { roots, parent, conditions }
    : { roots, conditions };
}

function narrow(visible: string[], above: string): string[] {
  return visible.some((group) => isWithin(above, group)) ? [above] : visible.filter((group) => isWithin(group, above));
}

/**
 * Matches rows of `t` at or below one of the roots. For each root it is a range on the primary key, since the uid of a
 * descendant continues its ancestor's with a "/"; very many roots are looked up by the beginning of each row's uid.
 */
export function within(roots: string[], uid: RawBuilder<unknown> = sql`t.uid`): Condition {
  if (roots.length === 0) return sql`1 = 0`;
  const conditions =
    roots.length <= MAX_RANGES
      ? roots.map((root) => sql`${uid} >= ${root} and ${uid} < ${`${root}0`}`)
      : [...Map.groupBy(roots, ({ length }) => length)].map(
          ([length, those]) => sql`substr(${uid}, 1, ${sql.lit(length)}) in (${sql.join(those)})`,
        );
  return sql`(${sql.join(conditions, sql` or `)})`;
}

// SQLite takes seconds to plan a statement with thousands of ranges, and rejects more than 1,000 in a chain.
const MAX_RANGES = 100;

/** The same value, in a form for which no database uses an index. */
export function unindexed(ref: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${ref}, ${ref})`;
}

const MAX_KNOWN = 10_000;
const selectGroup = statement("select uid from groups where uid = ?", ["text"]);
const knownGroups = snapshotCaches<true>(MAX_KNOWN);

/** Whether all the uids are those of groups: only below groups are the counters and the index by name complete. */
export async function areGroups(db: Database, uids: string[]): Promise<boolean> {
  const [uid] = uids;
  if (uid === undefined) return false;
  // Most callers list from one group, the same in every request.
  if (uids.length === 1)
    return (
      (await knownGroups(db).remember(uid, async () => (await selectGroup(db, uid)).length > 0 || undefined)) ?? false
    );
  return (await countGroups(db, uids)) === uids.length;
}

async function countGroups(db: Database, uids: string[]): Promise<number> {
  return (await select(db, `select uid from groups where uid in (${uids.map(() => "?").join(", ")})`, uids)).length;
}
