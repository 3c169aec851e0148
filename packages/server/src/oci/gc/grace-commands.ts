import type { Call } from "../../core/call.ts";
import { PUSH, repositoryFor } from "../names.ts";
import { command } from "../../core/command.ts";

/** Content that a client may build on. */
export interface Wanted {
  name: string;
  digest: string;
  kind: "blob" | "manifest";
}

/**
 * Gives content a new grace, since somebody who may push was told that it is there and may leave it out of a push.
 * False: it has gone meanwhile. DENIED or NAME_UNKNOWN when the right or the repo went away.
 */
export const extendGrace = command(
  "oci.extendGrace",
  async (call: Call, { name, digest, kind }: Wanted): Promise<{ held: boolean }> => {
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

/** Notes that bytes still come for an upload, so that its repo's content is not collected under the push. */
export const renewUpload = command(
  "oci.renewUpload",
  async (call: Call, { upload }: { upload: string }): Promise<void> => {
    await call.tx.updateTable("uploads").set({ update_time: call.nowMs }).where("uid", "=", upload).execute();
  },
);

/**
 * Starts the grace of what hangs on a manifest that is about to be deleted: what it refers to, its subject and its
 * referrers. Whoever deletes by mistake can push it again with little to upload.
 */
export async function graceAround(call: Call, repo: string, digest: string): Promise<void> {
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
