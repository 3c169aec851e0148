import type { Config } from "@moorage/kernel/config";
import { ancestorsOf, isWithin } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { isRepositoryName } from "../digests.ts";
import { compareSegments, type Root } from "./walk.ts";

// The number of uids in one statement: below every engine's limit of parameters.
const CHUNK = 500;

/**
 * Where the repositories that a caller may see are: the groups and repos with these uids, of which none is below
 * another, and the public organization. In the order of their paths; those that no longer exist are left out.
 */
export async function catalogRoots(
  tx: Database,
  { publicOrganization }: Pick<Config, "publicOrganization">,
  visible: readonly string[],
): Promise<Root[]> {
  const open = await tx
    .selectFrom("groups")
    .select("uid")
    .where("parent", "=", "")
    .where("name", "=", publicOrganization)
    .executeTakeFirst();
  const uids = open === undefined ? visible : [open.uid, ...visible.filter((uid) => !isWithin(uid, open.uid))];
  const wanted = [...new Set(uids.flatMap((uid) => [...ancestorsOf(uid), uid]))];
  const groups = await namesOf(tx, "groups", wanted);
  // A token may be limited to single repos.
  const repos = await namesOf(
    tx,
    "repos",
    uids.filter((uid) => !groups.has(uid)),
  );
  const roots = uids.flatMap((uid): Root[] => {
    const path = [...ancestorsOf(uid), uid].map((each) => groups.get(each) ?? repos.get(each));
    const names = path.filter((name) => name !== undefined && isRepositoryName(name)) as string[];
    return names.length === path.length ? [{ uid, isRepo: repos.has(uid), path: names }] : [];
  });
  return roots.sort((one, other) => compareSegments(one.path, other.path));
}

async function namesOf(tx: Database, table: "groups" | "repos", uids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (let at = 0; at < uids.length; at += CHUNK) {
    const rows = await tx
      .selectFrom(table)
      .select(["uid", "name"])
      .where("uid", "in", uids.slice(at, at + CHUNK))
      .execute();
    for (const { uid, name } of rows) names.set(uid, name);
  }
  return names;
}
