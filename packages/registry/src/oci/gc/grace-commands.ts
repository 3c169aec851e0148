import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { select } from "@moorage/kernel/store";

/** Content of a repo, by its uid, that a client was answered with and may build a push on. */
export interface GraceContent {
  repo: string;
  digest: string;
  kind: "blob" | "manifest";
}

// Values per statement, below the parameter limit of every engine.
const CHUNK = 500;
const TABLES = { blob: "repo_blobs", manifest: "manifests" } as const;

/**
 * Starts a new grace for contents: clients with the right to push were answered that they exist, and may leave them out
 * of their pushes. `gone` are the positions of those that were removed meanwhile.
 */
export const extendGrace = command(
  "oci.extendGrace",
  async ({ tx, nowMs }: Call, { contents }: { contents: readonly GraceContent[] }): Promise<{ gone: number[] }> => {
    const held = new Set<string>();
    const together = Map.groupBy(contents, ({ repo, kind }) => `${kind} ${repo}`);
    for (const some of together.values()) {
      const [{ repo, kind } = { repo: "", kind: "manifest" } as const] = some;
      const digests = [...new Set(some.map(({ digest }) => digest))];
      // Padded to a power of two, so that few statements are prepared.
      const padded = Array.from({ length: 2 ** Math.ceil(Math.log2(digests.length)) }, (_, at) => digests[at] ?? "");
      const rows = await select<{ digest: string }>(
        tx,
        `update ${TABLES[kind]} set touch_time = ? where repo = ? and digest in (${padded.map(() => "?").join(", ")}) returning digest`,
        [nowMs, repo, ...padded],
      );
      for (const { digest } of rows) held.add(`${kind} ${repo} ${digest}`);
    }
    return {
      gone: contents.flatMap(({ repo, digest, kind }, at) => (held.has(`${kind} ${repo} ${digest}`) ? [] : [at])),
    };
  },
);

/** Starts a new grace for contents of a repo, of one kind. `digests`: any number. */
export async function touchContents(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  repo: string,
  kind: GraceContent["kind"],
  digests: readonly string[],
): Promise<void> {
  for (let at = 0; at < digests.length; at += CHUNK)
    await tx
      .updateTable(TABLES[kind])
      .set({ touch_time: nowMs })
      .where("repo", "=", repo)
      .where("digest", "in", digests.slice(at, at + CHUNK))
      .execute();
}

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
