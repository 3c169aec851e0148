import type { UIDPFilter } from "@moorage/api";
import { type RawBuilder, sql } from "kysely";
import { ancestorsOf, isUid, isWithin, parentOf } from "../lib/uid.ts";
import { type Database, select, snapshotCaches } from "../store/index.ts";

/** A part of a WHERE clause over the table `t`. */
export type Condition = RawBuilder<unknown>;

/** Which part of the hierarchy a list answers from. */
export interface Scope {
  /** Answers come from these and below; none: nothing. */
  roots: string[];
  /** Set when the answers are the direct children of one parent; then `roots` needs no condition. */
  parent?: string;
  /** Set when `conditions` alone say what is answered. */
  everywhere?: boolean;
  /** The rest of the filter. */
  conditions: Condition[];
}

/**
 * What the filter leaves of the groups that the caller may list from. A uid of a wrong form matches nothing. Source:
 * contract §2.
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
    // From elsewhere only such children can be seen as are roots themselves; where there are none, nothing needs to be
    // read to know it.
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
 * Whether `t` is one of the roots or stands below one: a range on the primary key for each, since what follows a uid in
 * another is a "/".
 */
export function within(roots: string[], uid: RawBuilder<unknown> = sql`t.uid`): Condition {
  if (roots.length === 0) return sql`1 = 0`;
  return sql`(${sql.join(
    roots.map((root) => sql`${uid} >= ${root} and ${uid} < ${`${root}0`}`),
    sql` or `,
  )})`;
}

/** The same value, of which no engine looks for an index. */
export function unindexed(ref: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${ref}, ${ref})`;
}

const MAX_KNOWN = 10_000;
const knownGroups = snapshotCaches<true>(MAX_KNOWN);

/** Whether all the uids are groups: only below those are counters and the index by name complete. */
export async function areGroups(db: Database, uids: string[]): Promise<boolean> {
  const [uid] = uids;
  if (uid === undefined) return false;
  // Most callers list from one group, the same every time.
  if (uids.length === 1)
    return (await knownGroups(db).remember(uid, async () => (await countGroups(db, uids)) === 1 || undefined)) ?? false;
  return (await countGroups(db, uids)) === uids.length;
}

async function countGroups(db: Database, uids: string[]): Promise<number> {
  return (await select(db, `select uid from groups where uid in (${uids.map(() => "?").join(", ")})`, uids)).length;
}
