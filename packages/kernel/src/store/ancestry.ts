import { sql } from "kysely";
import { ancestorsOf } from "../lib/uid.ts";
import type { Database } from "./store.ts";

// Lists below a group, in the order of names, come from one index instead of a sort over all resources: (kind,
// ancestor, name, uid). Their totals come from counters, one for each kind and ancestor.

/**
 * The kinds of resources that are counted. All but tags are in the ancestry table: the tags of a repo have their own
 * index.
 */
export type Kind = "groups" | "identities" | "repos" | "tags" | LibraryKind;

/** Libraries are counted by the number of their ecosystem, so that lists of some of them are ranges of the index. */
export type LibraryKind = `artifacts-${number}`;

// A group counts as its own descendant, like in the `descendants_of` filter.
function ancestorsFor(kind: Kind, uid: string): string[] {
  return kind === "groups" ? [...ancestorsOf(uid), uid] : ancestorsOf(uid);
}

/**
 * Adds `by` to the counter of each ancestor of `uid`. Answers whether one of them has a quota, so that nothing more is
 * asked where there is none.
 */
export async function changeCount(tx: Database, kind: Kind, uid: string, by: number): Promise<boolean> {
  let isLimited = false;
  for (const ancestor of ancestorsFor(kind, uid)) {
    const counted = await tx
      .insertInto("counters")
      .values({ kind, ancestor, n: by })
      .onConflict((conflict) =>
        conflict.columns(["kind", "ancestor"]).doUpdateSet({ n: sql<number>`counters.n + ${by}` }),
      )
      .returning(sql<number>`(select count(*) from quotas as q where q.uid = counters.ancestor)`.as("quotas"))
      .executeTakeFirst();
    isLimited ||= Number(counted?.quotas ?? 0) > 0;
  }
  return isLimited;
}

/** Adds a resource to the ancestry of its ancestors. */
export async function addToAncestors(tx: Database, kind: Kind, uid: string, name: string): Promise<void> {
  const rows = ancestorsFor(kind, uid).map((ancestor) => ({ kind, ancestor, name, uid }));
  if (rows.length > 0) await tx.insertInto("ancestry").values(rows).execute();
  await changeCount(tx, kind, uid, 1);
}

/** Reverses addToAncestors; `name` is the current name. */
export async function removeFromAncestors(tx: Database, kind: Kind, uid: string, name: string): Promise<void> {
  const ancestors = ancestorsFor(kind, uid);
  if (ancestors.length > 0)
    await tx
      .deleteFrom("ancestry")
      .where("kind", "=", kind)
      .where("ancestor", "in", ancestors)
      .where("name", "=", name)
      .where("uid", "=", uid)
      .execute();
  await changeCount(tx, kind, uid, -1);
  if (kind === "groups") await tx.deleteFrom("counters").where("ancestor", "=", uid).where("n", "=", 0).execute();
}

/** Changes the name of a resource in the ancestry. */
export async function renameInAncestors(
  tx: Database,
  kind: Kind,
  uid: string,
  from: string,
  to: string,
): Promise<void> {
  const ancestors = ancestorsFor(kind, uid);
  if (from === to || ancestors.length === 0) return;
  await tx
    .updateTable("ancestry")
    .set({ name: to })
    .where("kind", "=", kind)
    .where("ancestor", "in", ancestors)
    .where("name", "=", from)
    .where("uid", "=", uid)
    .execute();
}

/** Forgets the counts below an ancestor that is gone. */
export async function forgetCounts(tx: Database, ancestor: string): Promise<void> {
  await tx.deleteFrom("counters").where("ancestor", "=", ancestor).execute();
}

/** A row of the ancestry. */
export interface Descent {
  kind: string;
  ancestor: string;
  name: string;
  uid: string;
}

/** Adds a row that the ancestry lacks. */
export async function repairDescent(tx: Database, row: Descent): Promise<void> {
  await tx
    .insertInto("ancestry")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Removes a row that the ancestry has and should not. */
export async function removeDescent(tx: Database, { kind, ancestor, name, uid }: Descent): Promise<void> {
  await tx
    .deleteFrom("ancestry")
    .where("kind", "=", kind)
    .where("ancestor", "=", ancestor)
    .where("name", "=", name)
    .where("uid", "=", uid)
    .execute();
}

/** Sets the counter to what there really is. */
export async function repairCount(tx: Database, row: { kind: string; ancestor: string; n: number }): Promise<void> {
  await tx
    .insertInto("counters")
    .values(row)
    .onConflict((conflict) => conflict.columns(["kind", "ancestor"]).doUpdateSet({ n: row.n }))
    .execute();
}
