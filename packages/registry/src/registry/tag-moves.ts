import { RepoSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import { newUid } from "@moorage/kernel/lib/uid";
import { changeCount, statement } from "@moorage/kernel/store";
import { checkAttachmentsOfTag, noteTagAttacher } from "./attachment-checks.ts";
import { isReservedTag, RESERVED_TAG } from "./timed-tag.ts";
import { immutableTag, policyOf, protectedTag } from "./policies.ts";
import { BY_SYSTEM, type DeleteReason, emitTag, type MoveReason } from "./tag-events.ts";
import { requireCount } from "./quotas/counts.ts";
import { standsForRegistry } from "./stand-ins.ts";
import { emitVersionMoved, isVersionTag } from "./version-moves.ts";

export interface TagMove {
  /** The repo's uid. */
  repo: string;
  /** The tag's name. */
  name: string;
  digest: string;
  reason: Exclude<MoveReason, "delete" | "retention" | "expire">;
  /** Defaults to the tag's value; false for a new tag. */
  deprecated?: boolean;
  /** Defaults to the tag's value; empty for a new tag. */
  bundles?: string[];
  /** When it ends, in milliseconds since 1970; null for never. Defaults to the tag's value; null for what moves. */
  expireMs?: number | null;
  /** When it moved, in milliseconds since 1970, if that was at another installation. Defaults to now. */
  timeMs?: number;
}

/** A tag as it is before a move. Undefined when the repo has no tag of that name. */
export type TagBefore =
  | {
      uid: string;
      digest: string;
      update_time: number;
      deprecated: number;
      bundles: string;
      expire_time: number | null;
    }
  | undefined;
/** A tag of a repo, if it exists, and the text of the repo's policy. */
export interface TagPlace {
  policy: string | null;
  tag: TagBefore;
  /** The time of the last record of the tag's history; null without one. */
  lastTime: number | null;
  /** The registry that the repo's tags are those of, since a group stands for it. */
  origin: string | undefined;
  /** Whether the installation has ever had a policy of signatures. */
  hasSignaturePolicies: boolean;
}

/** What of it pushes and copies need: they are denied or judged before, by what else there is. */
type PushedPlace = Pick<TagPlace, "policy" | "tag" | "lastTime"> & Partial<TagPlace>;

export interface MovedTag {
  uid: string;
  /** Whether the tag is new. */
  created: boolean;
  /** Whether the digest changed or the tag is new, so that its history has one more record. */
  moved: boolean;
  /** When the tag moved to its digest, in milliseconds since 1970. */
  updateTimeMs: number;
  deprecated: boolean;
  /** JSON text. */
  bundles: string;
  /** When it ends, in milliseconds since 1970; null for never. */
  expireMs: number | null;
}

type PlaceRow = { policy: string | null; last_time: number | null } & (NonNullable<TagBefore> | { uid: null });
const COLUMNS = `r.tag_policy as policy, t.uid, t.digest, t.update_time, t.deprecated, t.bundles, t.expire_time,
  (select time from tag_history where repo = ? and tag = ? order by time desc limit 1) as last_time`;
const OF_TAG = "from repos as r left join tags as t on t.parent = r.uid and t.name = ? where r.uid = ?";
const selectPlace = statement<PlaceRow & { origin: string | null; signing: 1 | null }>(
  `select ${COLUMNS},
    (select g.registry from upstream_repos as u join registry_upstreams as g on g.uid = u.upstream where u.repo = r.uid) as origin,
    (select 1 from signature_policy_changes as s where s.parent = '') as signing ${OF_TAG}`,
  ["text", "text", "text", "text"],
);
const selectPushedPlace = statement<PlaceRow>(`select ${COLUMNS} ${OF_TAG}`, ["text", "text", "text", "text"]);
/** Pushes are denied before, and copies are what moves the tags of such repos. */
const IS_JUDGED_BEFORE: ReadonlySet<MoveReason> = new Set(["push", "replicate", "mirror"]);
const SLICE = 1000;
const MAX_NAMED = 10;
const selectNames = statement<{ name: string }>(
  `select name from tags where parent = ? and name > ? order by name limit ${SLICE}`,
);
const updateTag = statement(
  "update tags set digest = ?, update_time = ?, deprecated = ?, bundles = ?, expire_time = ? where uid = ?",
  ["text", "bigint", "bigint", "text", "bigint", "text"],
);
const removeTag = statement("delete from tags where uid = ?");
const selectLastDigest = statement<{ digest: string }>(
  "select digest from tag_history where repo = ? and tag = ? and digest <> '' order by time desc limit 1",
);
const insertRecord = statement(
  "insert into tag_history (repo, tag, time, digest, actor, reason) values (?, ?, ?, ?, ?, ?)",
  ["text", "text", "bigint", "text", "text", "text"],
);

/**
 * Makes the tag point to the digest and writes its history, in the call's transaction. A move to the same digest
 * changes only `deprecated`, `bundles` and when the tag ends; one to another digest takes that end away. A tag that
 * looks like a version and came to point elsewhere emits an event of its own, also when it was deleted in between.
 * `found`: the result of findTag in the same transaction, if it was called before. The times of a tag's
 * records strictly increase, also after deletions. Checks no rights: the caller of this function does. Throws
 * NOT_FOUND if the repo does not exist, INVALID_ARGUMENT on `name` for a reserved name, and FAILED_PRECONDITION
 * (TAG_IMMUTABLE) if the repo's policy fixes the tag to another digest, or where its tags are those
 * of another registry. Source: docs/contract.md, "Tag history".
 */
export async function moveTag(call: Call, move: TagMove, found?: TagPlace): Promise<MovedTag> {
  const { repo, name, digest } = move;
  const isPushed = IS_JUDGED_BEFORE.has(move.reason);
  const place: PushedPlace = found ?? (await (isPushed ? findPushedTag : findTag)(call, repo, name));
  const before = place.tag;
  await requireMovable(call, move, place);
  const deprecated = move.deprecated ?? before?.deprecated === 1;
  const bundles = move.bundles === undefined ? (before?.bundles ?? "[]") : JSON.stringify(move.bundles);
  const moved = before?.digest !== digest;
  if (moved && !isPushed && place.origin !== undefined) throw failedPrecondition(standsForRegistry(repo, place.origin));
  const versionDigest =
    moved && isVersionTag(name) ? (before?.digest ?? (await lastDigest(call, repo, name))) : undefined;
  const updateTimeMs = moved ? await record(call, move, place) : before.update_time;
  if (moved) await checkAttachmentsOfTag(call, repo, name);
  if (moved) call.wake("replications");
  const uid = before?.uid ?? newUid(repo);
  const expireMs = move.expireMs === undefined ? (moved ? null : before.expire_time) : move.expireMs;
  const changed =
    before === undefined ||
    moved ||
    deprecated !== (before.deprecated === 1) ||
    bundles !== before.bundles ||
    expireMs !== before.expire_time;
  if (before === undefined) {
    await call.tx
      .insertInto("tags")
      .values({
        uid,
        parent: repo,
        name,
        digest,
        deprecated: deprecated ? 1 : 0,
        bundles,
        expire_time: expireMs,
        create_time: updateTimeMs,
        update_time: updateTimeMs,
      })
      .execute();
    if (await changeCount(call.tx, "tags", uid, 1)) await requireCount(call, "tags", uid);
  } else if (changed) {
    await updateTag(call.tx, digest, updateTimeMs, deprecated ? 1 : 0, bundles, expireMs, uid);
  }
  await noteTagAttacher(call, { repo, name, uid, moved, isSystem: BY_SYSTEM.has(move.reason) });
  if (changed) {
    const previousDigest = moved ? (before?.digest ?? "") : "";
    emitTag(call, before === undefined ? "created" : "updated", repo, {
      uid,
      name,
      digest,
      previousDigest,
      reason: move.reason,
      deprecated,
      bundles,
    });
  }
  if (versionDigest !== undefined && versionDigest !== digest) {
    const { reason } = move;
    const isSystem = BY_SYSTEM.has(reason);
    await emitVersionMoved(call, { repo, tag: name, digest, previousDigest: versionDigest, reason, isSystem });
  }
  return { uid, created: before === undefined, moved, updateTimeMs, deprecated, bundles, expireMs };
}

/** The tag of that name as it is now, and the repo's policy. Throws NOT_FOUND when the repo does not exist. */
export async function findTag(call: Call, repo: string, name: string): Promise<TagPlace> {
  const [row] = await selectPlace(call.tx, repo, name, name, repo);
  if (row === undefined) throw notFound(RepoSchema.typeName, repo);
  return { ...placeOf(row), origin: row.origin ?? undefined, hasSignaturePolicies: row.signing !== null };
}

async function findPushedTag(call: Call, repo: string, name: string): Promise<PushedPlace> {
  const place = await readPushedPlace(call, repo, name);
  if (place === undefined) throw notFound(RepoSchema.typeName, repo);
  return place;
}

async function readPushedPlace(call: Call, repo: string, name: string): Promise<PushedPlace | undefined> {
  const [row] = await selectPushedPlace(call.tx, repo, name, name, repo);
  return row && placeOf(row);
}

function placeOf(row: PlaceRow): PushedPlace {
  return { policy: row.policy, tag: row.uid === null ? undefined : row, lastTime: row.last_time };
}

/**
 * Throws INVALID_ARGUMENT on `name` for a reserved name, and FAILED_PRECONDITION (TAG_IMMUTABLE) if the repo's policy
 * fixes the tag to another digest. Checks no rights.
 */
export async function requireMovable(
  call: Call,
  { repo, name, digest }: Pick<TagMove, "repo" | "name" | "digest">,
  place: PushedPlace,
): Promise<void> {
  if (isReservedTag(name)) throw invalidArgument({ field: "name", description: RESERVED_TAG });
  if (place.tag?.digest === digest) return;
  const fixedAt = await fixedDigest(call, repo, name, place);
  if (fixedAt !== undefined && fixedAt !== digest) throw failedPrecondition(immutableTag(name, fixedAt));
}

/** Throws FAILED_PRECONDITION (TAG_PROTECTED) if the repo's policy, as its text, protects the tag. */
export function requireUnprotected(policy: string | null, name: string): void {
  if (policyOf(policy).isProtected(name)) throw failedPrecondition(protectedTag(name));
}

/**
 * The only digest that a tag may point to under its policy, even after it was deleted. Undefined when it may point to
 * any.
 */
export async function fixedDigest(
  call: Call,
  repo: string,
  name: string,
  { policy, tag }: PushedPlace,
): Promise<string | undefined> {
  if (!policyOf(policy).isImmutable(name)) return undefined;
  return tag?.digest ?? (await lastDigest(call, repo, name));
}

/** What the tag pointed to last, also when it was deleted since; undefined when its history has no digest. */
async function lastDigest(call: Call, repo: string, name: string): Promise<string | undefined> {
  return (await selectLastDigest(call.tx, repo, name))[0]?.digest;
}

/**
 * Deletes the tag and appends a record with an empty digest to its history, which is retained; the Tag History API does
 * not show that record. Returns false when there is no such tag. Throws FAILED_PRECONDITION (TAG_PROTECTED) if the
 * repo's policy protects the tag.
 */
export async function deleteTag(
  call: Call,
  { name, ...rest }: { repo: string; name: string; reason: DeleteReason; timeMs?: number },
): Promise<boolean> {
  return (await deleteTags(call, { names: [name], ...rest })) === 1;
}

/** Deletes those of the tags that exist, like deleteTag. Returns how many. */
export async function deleteTags(
  call: Call,
  { repo, names, reason, timeMs }: { repo: string; names: readonly string[]; reason: DeleteReason; timeMs?: number },
): Promise<number> {
  let count = 0;
  for (const name of names) {
    const place = await readPushedPlace(call, repo, name);
    if (place?.tag === undefined) continue;
    requireUnprotected(place.policy, name);
    const { uid, digest, deprecated, bundles } = place.tag;
    await removeTag(call.tx, uid);
    await checkAttachmentsOfTag(call, repo, name);
    await record(call, { repo, name, digest: "", reason, ...(timeMs !== undefined && { timeMs }) }, place);
    emitTag(call, "deleted", repo, {
      uid,
      name,
      digest,
      previousDigest: "",
      reason,
      deprecated: deprecated === 1,
      bundles,
    });
    count += 1;
  }
  // The counters are updated once and last, because every transaction that creates a tag in the organization waits for
  // them.
  if (count > 0) await changeCount(call.tx, "tags", `${repo}/`, -count);
  if (count > 0) call.wake("replications");
  return count;
}

/**
 * Throws FAILED_PRECONDITION (TAG_PROTECTED) when the repo has tags that its policy protects: it names the first ones
 * and their number.
 */
export async function requireNoneProtected(
  call: Call,
  { uid, tag_policy }: { uid: string; tag_policy: string | null },
): Promise<void> {
  const { isProtected, protects } = policyOf(tag_policy);
  const named: string[] = [];
  let count = 0;
  let after: string | undefined = protects ? "" : undefined;
  while (after !== undefined) {
    const slice: { name: string }[] = await selectNames(call.tx, uid, after);
    for (const { name } of slice) if (isProtected(name) && (count += 1) <= MAX_NAMED) named.push(name);
    after = slice.length < SLICE ? undefined : slice.at(-1)?.name;
  }
  if (count === 0) return;
  const rest =
    count > MAX_NAMED
      ? [{ type: "TAG_PROTECTED", subject: uid, description: `the repo has ${count} protected tags` }]
      : [];
  throw failedPrecondition(...named.map(protectedTag), ...rest);
}

/** Appends to the tag's history, after its last record even if the clock went back. Returns the record's time. */
async function record(
  call: Call,
  { repo, name, digest, reason, timeMs = call.nowMs }: Omit<TagMove, "reason"> & { reason: MoveReason },
  { lastTime }: PushedPlace,
): Promise<number> {
  const time = lastTime === null ? timeMs : Math.max(timeMs, lastTime + 1);
  await insertRecord(call.tx, repo, name, time, digest, call.caller.identity, reason);
  return time;
}
