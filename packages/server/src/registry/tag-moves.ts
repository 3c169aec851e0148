import type { Call } from "../call.ts";
import { newUid } from "../base/uid.ts";
import { changeCount, statement } from "../store/index.ts";

/** Why a tag moved; kept in its history. Source: contract §8. */
export type MoveReason = "push" | "api" | "mirror" | "rollback" | "delete";

export interface TagMove {
  /** The repo's uid. */
  repo: string;
  /** The tag's name. */
  name: string;
  digest: string;
  reason: Exclude<MoveReason, "delete">;
  /** Absent: as it is; false for a new tag. */
  deprecated?: boolean;
  /** Absent: as they are; none for a new tag. */
  bundles?: string[];
}

/** A tag as it is before a move; undefined: there is none of that name. */
export type TagBefore = { uid: string; digest: string; update_time: number; deprecated: number; bundles: string } | undefined;

export interface MovedTag {
  uid: string;
  /** There was no tag of that name. */
  created: boolean;
  /** It points to another digest than before, or is new: its history grew by one record. */
  moved: boolean;
  /** When it came to point to its digest, in milliseconds since 1970. */
  updateTimeMs: number;
  deprecated: boolean;
  /** JSON text. */
  bundles: string;
}

const selectTag = statement<NonNullable<TagBefore>>("select uid, digest, update_time, deprecated, bundles from tags where parent = ? and name = ?");
const updateTag = statement("update tags set digest = ?, update_time = ?, deprecated = ?, bundles = ? where uid = ?");
const selectLastTime = statement<{ time: number }>("select time from tag_history where repo = ? and tag = ? order by time desc limit 1");
const insertRecord = statement("insert into tag_history (repo, tag, time, digest, actor, reason) values (?, ?, ?, ?, ?, ?)");

/**
 * Makes the tag point to the digest and writes its history, in the call's transaction. The same digest again changes nothing but
 * `deprecated` and `bundles`. `found`: what findTag gave in the same transaction, where it was asked already. Times strictly increase within a tag, over its deletions too. Asks for no rights: the caller did.
 * Source: contract §8, History.
 */
export async function moveTag(call: Call, move: TagMove, found: TagBefore | Promise<TagBefore> = findTag(call, move.repo, move.name)): Promise<MovedTag> {
  const { repo, name, digest } = move;
  const before = await found;
  const deprecated = move.deprecated ?? before?.deprecated === 1;
  const bundles = move.bundles === undefined ? before?.bundles ?? "[]" : JSON.stringify(move.bundles);
  const moved = before?.digest !== digest;
  const updateTimeMs = moved ? await record(call, repo, name, digest, move.reason) : before.update_time;
  const uid = before?.uid ?? newUid(repo);
  const changed = moved || deprecated !== (before.deprecated === 1) || bundles !== before.bundles;
  if (before === undefined) {
    await call.tx.insertInto("tags")
      .values({ uid, parent: repo, name, digest, deprecated: deprecated ? 1 : 0, bundles, create_time: updateTimeMs, update_time: updateTimeMs }).execute();
    await changeCount(call.tx, "tags", uid, 1);
  } else if (changed) {
    await updateTag(call.tx, digest, updateTimeMs, deprecated ? 1 : 0, bundles, uid);
  }
  return { uid, created: before === undefined, moved, updateTimeMs, deprecated, bundles };
}

/** The tag of that name as it is now. */
export async function findTag(call: Call, repo: string, name: string): Promise<TagBefore> {
  return (await selectTag(call.tx, repo, name))[0];
}

/**
 * Deletes the tag and notes that in its history, which stays. False: there is no such tag.
 * The note has an empty digest; the Tag History answer does not show it.
 */
export async function deleteTag(call: Call, { repo, name, reason }: { repo: string; name: string; reason: "delete" }): Promise<boolean> {
  const found = await call.tx.selectFrom("tags").select("uid").where("parent", "=", repo).where("name", "=", name).executeTakeFirst();
  if (!found) return false;
  await call.tx.deleteFrom("tags").where("uid", "=", found.uid).execute();
  await changeCount(call.tx, "tags", found.uid, -1);
  await record(call, repo, name, "", reason);
  return true;
}

/** Appends to the tag's history, after its last record even if the clock went back. Returns the record's time. */
async function record(call: Call, repo: string, tag: string, digest: string, reason: MoveReason): Promise<number> {
  const [last] = await selectLastTime(call.tx, repo, tag);
  const time = last ? Math.max(call.nowMs, last.time + 1) : call.nowMs;
  await insertRecord(call.tx, repo, tag, time, digest, call.caller.identity, reason);
  return time;
}
