import { parentOf } from "../lib/uid.ts";
import { type Database, snapshotCaches, statement } from "../store/index.ts";
import type { Call } from "./call.ts";

/** The repo and groups that an image path names. */
export interface Resolved {
  /** The repo's uid, when the whole path exists. */
  repo?: string;
  /** The uid of the innermost group that exists. Undefined when the organization does not exist. */
  group?: string;
  /** The names below that group that do not exist; the last one is the repo's. */
  missing: string[];
  /**
   * False when it is known that no group of the installation stands for another registry, as on most: what depends on
   * that needs no further statement then.
   */
  hasStandIns?: boolean;
}

const selectRepo = statement<{ uid: string }>("select uid from repos where parent = ? and name = ?", ["text", "text"]);
const selectGroup = statement<{ uid: string }>("select uid from groups where parent = ? and name = ?", [
  "text",
  "text",
]);

// Resolves the whole path in one statement, up to this number of names. Names are unique below a parent.
const MAX_NESTED = 8;
const selectPath = Array.from({ length: MAX_NESTED + 1 }, (_, names) => {
  let group = "''";
  for (let at = 1; at < names; at += 1) group = `(select uid from groups where parent = ${group} and name = ?)`;
  return statement<{ uid: string; stand_in: number | null }>(
    `select uid, (select 1 from registry_upstreams where parent > '' limit 1) as stand_in from repos where parent = ${group} and name = ?`,
    Array.from({ length: Math.max(1, names) }, () => "text" as const),
  );
});

const MAX_KNOWN = 10_000;
const knownPaths = snapshotCaches<Resolved>(MAX_KNOWN);

/** Resolves `<organization>/<subgroup…>/<image>` by the current names. Source: docs/contract.md, "Registry". */
export async function resolveRepository(call: Call, name: string): Promise<Resolved> {
  const segments = name.split("/");
  const whole = await knownPaths(call.tx).remember(name, () => wholeOf(call.tx, segments));
  if (whole) return whole;
  let group: string | undefined;
  for (const [index, segment] of segments.entries()) {
    const leaf = index === segments.length - 1;
    // An image is never at the root: its first segment is the organization.
    if (leaf && group === undefined) break;
    const [found] = await (leaf ? selectRepo : selectGroup)(call.tx, group ?? "", segment);
    if (!found) return { group, missing: segments.slice(index) };
    if (leaf) return { repo: found.uid, group, missing: [] };
    group = found.uid;
  }
  return { group, missing: segments };
}

async function wholeOf(tx: Database, segments: readonly string[]): Promise<Resolved | undefined> {
  const [whole] = segments.length > 1 ? ((await selectPath[segments.length]?.(tx, ...segments)) ?? []) : [];
  if (whole === undefined) return undefined;
  return { repo: whole.uid, group: parentOf(whole.uid), missing: [], hasStandIns: whole.stand_in !== null };
}

/** The path of an image by the current names of its groups and repo, as `acme/team/api`. */
export async function pathOf(tx: Database, uid: string): Promise<string> {
  const repo = await tx.selectFrom("repos").select("name").where("uid", "=", uid).executeTakeFirst();
  const uids: string[] = [];
  for (let group = parentOf(uid); group !== ""; group = parentOf(group)) uids.push(group);
  const groups = new Map(
    (await tx.selectFrom("groups").select(["uid", "name"]).where("uid", "in", uids).execute()).map(
      ({ uid: group, name }) => [group, name],
    ),
  );
  return [...uids.toReversed().map((group) => groups.get(group)), repo?.name]
    .filter((name) => name !== undefined)
    .join("/");
}
