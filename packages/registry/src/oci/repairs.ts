import type { Database } from "@moorage/kernel/store";
import { removeContent } from "../registry/index.ts";

// What `moorage fsck --repair` changes of blobs and manifests whose content it has read.

/** Corrects the size of a stored blob, in bytes. */
export async function correctBlobSize(tx: Database, digest: string, generation: string, size: number): Promise<void> {
  await tx
    .updateTable("blobs")
    .set({ size })
    .where("digest", "=", digest)
    .where("generation", "=", generation)
    .execute();
}

/** Forgets a blob without content, so that the next push sends it again. False when there is another copy by now. */
export async function forgetBlob(tx: Database, digest: string, generation: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("blobs")
    .where("digest", "=", digest)
    .where("generation", "=", generation)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  const links = await tx.deleteFrom("repo_blobs").where("digest", "=", digest).returning("repo").execute();
  for (const { repo } of links) await removeContent(tx, "blob", repo, [digest]);
  return true;
}

/** Corrects the size of a manifest, in bytes. */
export async function correctManifestSize(tx: Database, repo: string, digest: string, size: number): Promise<void> {
  await tx.updateTable("manifests").set({ size }).where("repo", "=", repo).where("digest", "=", digest).execute();
}

/**
 * Removes a damaged manifest, so that the next push brings it back. The tags stay, and the grace of what it referred to
 * starts again, so that the push finds it.
 */
export async function forgetManifest(tx: Database, repo: string, digest: string, nowMs: number): Promise<void> {
  const references = tx
    .selectFrom("manifest_references")
    .select("target")
    .where("repo", "=", repo)
    .where("digest", "=", digest);
  for (const table of ["manifests", "repo_blobs"] as const)
    await tx
      .updateTable(table)
      .set({ touch_time: nowMs })
      .where("repo", "=", repo)
      .where("digest", "in", references)
      .execute();
  const gone = await tx
    .deleteFrom("manifests")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .returning("digest")
    .execute();
  await tx.deleteFrom("manifest_references").where("repo", "=", repo).where("digest", "=", digest).execute();
  if (gone.length > 0) await removeContent(tx, "manifest", repo, [digest]);
}
