import type { Call } from "@moorage/kernel/core/call";
import { newUid } from "@moorage/kernel/lib/uid";
import { changeCount, statement } from "@moorage/kernel/store";
import { checkAttachmentsOfTag, noteTagAttacher } from "./attachment-checks.ts";
import { requireCount } from "./quotas/counts.ts";
import { emitTag } from "./tag-events.ts";
import type { TagPlace } from "./tag-moves.ts";

/** A record for a tag's history. */
export interface ImportedRecord {
  /** Empty: the tag was deleted. */
  digest: string;
  timeMs: number;
  /** The place of its move in the request. */
  at: number;
}

/** A tag with the records that its history is to get. */
export interface ImportedTag {
  name: string;
  place: TagPlace;
  /** From the oldest on; each later than the one before and than what is there. */
  records: ImportedRecord[];
}

/** Where records go, and where they come from by the caller's word. */
interface Destination {
  repo: string;
  source: string;
}

const REASON = "import";
const insertRecord = statement(
  "insert into tag_history (repo, tag, time, digest, actor, reason, source) values (?, ?, ?, ?, ?, ?, ?)",
  ["text", "text", "bigint", "text", "text", "text", "text"],
);
const insertTag = statement(
  "insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time) values (?, ?, ?, ?, ?, ?, ?, ?)",
  ["text", "text", "text", "text", "bigint", "text", "bigint", "bigint"],
);
const updateTag = statement("update tags set digest = ?, update_time = ? where uid = ?", ["text", "bigint", "text"]);
const removeTag = statement("delete from tags where uid = ?");

/** Writes the records and the tag as the last of them has it. Returns how many tags there are more: 1, 0 or -1. */
export async function storeImportedTag(call: Call, to: Destination, tag: ImportedTag): Promise<number> {
  const last = tag.records.at(-1);
  if (last === undefined) return 0;
  for (const { digest, timeMs } of tag.records)
    await insertRecord(call.tx, to.repo, tag.name, timeMs, digest, call.caller.identity, REASON, to.source);
  const before = tag.place.tag;
  if (last.digest === "") return before === undefined ? 0 : await endTag(call, to.repo, tag.name, before);
  if (before?.digest === last.digest) {
    await updateTag(call.tx, last.digest, last.timeMs, before.uid);
    return 0;
  }
  const uid = before?.uid ?? newUid(to.repo);
  const firstMs = tag.records[0]?.timeMs ?? last.timeMs;
  if (before === undefined)
    await insertTag(call.tx, uid, to.repo, tag.name, last.digest, 0, "[]", firstMs, last.timeMs);
  else await updateTag(call.tx, last.digest, last.timeMs, uid);
  await checkAttachmentsOfTag(call, to.repo, tag.name);
  await noteTagAttacher(call, { repo: to.repo, name: tag.name, uid, moved: true, isSystem: false });
  emitTag(call, before === undefined ? "created" : "updated", to.repo, {
    uid,
    name: tag.name,
    digest: last.digest,
    previousDigest: before?.digest ?? "",
    reason: REASON,
    deprecated: before?.deprecated === 1,
    bundles: before?.bundles ?? "[]",
  });
  return before === undefined ? 1 : 0;
}

async function endTag(call: Call, repo: string, name: string, before: NonNullable<TagPlace["tag"]>): Promise<number> {
  await removeTag(call.tx, before.uid);
  await checkAttachmentsOfTag(call, repo, name);
  emitTag(call, "deleted", repo, {
    uid: before.uid,
    name,
    digest: before.digest,
    previousDigest: "",
    reason: REASON,
    deprecated: before.deprecated === 1,
    bundles: before.bundles,
  });
  return -1;
}

/**
 * Counts so many tags more in the repo, once for all, since every transaction that creates a tag in the organization
 * waits for the counters. Throws FAILED_PRECONDITION (QUOTA_EXCEEDED) when they do not fit into a quota.
 */
export async function storeTagCount(call: Call, repo: string, count: number): Promise<void> {
  if (count === 0) return;
  const isLimited = await changeCount(call.tx, "tags", `${repo}/`, count);
  if (count > 0 && isLimited) await requireCount(call, "tags", `${repo}/`, count);
}
