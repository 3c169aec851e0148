import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { dropUploads, forgetEndedUploads } from "./commands.ts";
import { uploadsBefore } from "./upload-ids.ts";
import { findUnrecorded, type StoredCopy } from "../gc/commands.ts";

export interface CleanUploadsDeps {
  transactor: Transactor;
  blobs: BlobStore;
  clock: Clock;
  config: Pick<Config, "uploadTtlMs">;
}

// The number of sessions read or removed in one statement: below every engine's limit of parameters.
const BATCH = 500;
// Few enough that other writes do not wait for them.
const ENDED_BATCH = 2_000;

/**
 * Removes uploads that received no bytes for `uploadTtlMs`, their sessions, what is noted of ended ones whose ids have
 * expired since, and blob files without a record, which a crash between writing and recording leaves behind. Blob files
 * younger than that are left alone, since their record may be about to be written. Rejects with the reason of `signal`
 * when that is aborted; what was removed until then stays removed.
 */
export async function cleanUploads(
  deps: CleanUploadsDeps,
  signal?: AbortSignal,
): Promise<{ uploads: number; blobs: number }> {
  const nowMs = deps.clock.nowMs();
  const cutoffMs = nowMs - deps.config.uploadTtlMs;
  const data = { ...systemCall(nowMs), agreedMs: deps.clock.agreedMs() };
  const active = new Set<string>();
  const stale = new Set<string>();
  for await (const { id, modifiedMs } of deps.blobs.listUploads()) (modifiedMs < cutoffMs ? stale : active).add(id);
  for (let after = ""; ;) {
    signal?.throwIfAborted();
    const rows = await deps.transactor.read(data, (call) =>
      call.tx
        .selectFrom("uploads")
        .select("uid")
        .where("uid", ">", after)
        .where("update_time", "<", cutoffMs)
        .orderBy("uid")
        .limit(BATCH)
        .execute(),
    );
    for (const { uid } of rows) if (!active.has(uid)) stale.add(uid);
    if (rows.length < BATCH) break;
    after = rows[rows.length - 1]?.uid ?? "";
  }
  const dropped = [...stale];
  for (let at = 0; at < dropped.length; at += BATCH) {
    signal?.throwIfAborted();
    const uploads = dropped.slice(at, at + BATCH);
    await deps.transactor.write(dropUploads, data, { uploads });
    for (const id of uploads) await deps.blobs.removeUpload(id);
  }
  for (let count = ENDED_BATCH; count === ENDED_BATCH;) {
    signal?.throwIfAborted();
    const input = { before: uploadsBefore(cutoffMs), limit: ENDED_BATCH };
    ({ count } = await deps.transactor.write(forgetEndedUploads, data, input));
  }
  let blobs = 0;
  let copies: StoredCopy[] = [];
  const removeUnrecorded = async (): Promise<void> => {
    if (copies.length === 0) return;
    signal?.throwIfAborted();
    const { unrecorded } = await deps.transactor.write(findUnrecorded, data, { copies });
    for (const { digest, generation } of unrecorded) await deps.blobs.remove(digest, generation);
    blobs += unrecorded.length;
    copies = [];
  };
  for await (const { digest, generation, modifiedMs } of deps.blobs.listBlobs()) {
    signal?.throwIfAborted();
    if (modifiedMs >= cutoffMs) continue;
    copies.push({ digest, generation });
    if (copies.length === BATCH) await removeUnrecorded();
  }
  await removeUnrecorded();
  return { uploads: dropped.length, blobs };
}
