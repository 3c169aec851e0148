import type { Call } from "@moorage/kernel/core/call";
import { changeCount, statement } from "@moorage/kernel/store";
import { emitTag } from "./tag-events.ts";

/** Of how many tags a deleted repo emits events, the first by name: they are kept in memory until the commit. */
const MAX_EVENTS = 10_000;
const selectTags = statement<{ uid: string; name: string; digest: string; deprecated: number; bundles: string }>(
  `select uid, name, digest, deprecated, bundles from tags where parent = ? order by name limit ${MAX_EVENTS}`,
);

/** Removes all tags of a repo that is deleted, with their history. Returns how many there were. */
export async function removeTags(call: Call, repo: string): Promise<number> {
  const { tx } = call;
  for (const { deprecated, ...tag } of await selectTags(tx, repo))
    emitTag(call, "deleted", repo, { ...tag, previousDigest: "", reason: "delete", deprecated: deprecated === 1 });
  const { numDeletedRows } = await tx.deleteFrom("tags").where("parent", "=", repo).executeTakeFirst();
  const count = Number(numDeletedRows);
  if (count > 0) await changeCount(tx, "tags", `${repo}/`, -count);
  await tx.deleteFrom("tag_history").where("repo", "=", repo).execute();
  return count;
}
