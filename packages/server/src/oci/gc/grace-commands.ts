import type { Call } from "../../core/call.ts";
import { PUSH, repositoryFor } from "../names.ts";
import { command } from "../../core/command.ts";

/** Content that a client was answered with and may build a push on. */
export interface GraceContent {
  name: string;
  digest: string;
  kind: "blob" | "manifest";
}

/**
 * Starts a new grace for content: a client with the right to push was answered that it exists, and may leave it out of
 * its push. `held` is false when the content was removed meanwhile. Throws DENIED or NAME_UNKNOWN when the right or the
 * repo was removed.
 */
export const extendGrace = command(
  "oci.extendGrace",
  async (call: Call, { name, digest, kind }: GraceContent): Promise<{ held: boolean }> => {
    const repo = await repositoryFor(call, name, ...PUSH);
    const { numUpdatedRows } = await call.tx
      .updateTable(kind === "blob" ? "repo_blobs" : "manifests")
      .set({ touch_time: call.nowMs })
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    return { held: numUpdatedRows > 0n };
  },
);

/** Records that an upload still receives bytes, so that the content of its repo is not collected during the push. */
export const renewUpload = command(
  "oci.renewUpload",
  async (call: Call, { upload }: { upload: string }): Promise<void> => {
    await call.tx.updateTable("uploads").set({ update_time: call.nowMs }).where("uid", "=", upload).execute();
  },
);

/**
 * Starts a new grace for the manifests and blobs connected to a manifest that is about to be deleted: what it refers
 * to, its subject and its referrers. After a deletion by mistake little must be uploaded again.
 */
export async function startGraceAround(call: Call, repo: string, digest: string): Promise<void> {
  const { tx, nowMs } = call;
  for (const table of ["manifests", "repo_blobs"] as const) {
    await tx
      .updateTable(table)
      .set({ touch_time: nowMs })
      .where("repo", "=", repo)
      .where("touch_time", "<", nowMs)
      .where(
        "digest",
        "in",
        tx.selectFrom("manifest_references").select("target").where("repo", "=", repo).where("digest", "=", digest),
      )
      .execute();
  }
  await tx
    .updateTable("manifests")
    .set({ touch_time: nowMs })
    .where("repo", "=", repo)
    .where("touch_time", "<", nowMs)
    .where("subject", "=", digest)
    .execute();
  await tx
    .updateTable("manifests")
    .set({ touch_time: nowMs })
    .where("repo", "=", repo)
    .where("touch_time", "<", nowMs)
    .where(
      "digest",
      "in",
      tx.selectFrom("manifests").select("subject").where("repo", "=", repo).where("digest", "=", digest),
    )
    .execute();
}
