import type { Database } from "@moorage/kernel/store";

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
  if (numDeletedRows > 0n) await tx.deleteFrom("repo_blobs").where("digest", "=", digest).execute();
  return numDeletedRows > 0n;
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
  for (const table of ["manifests", "manifest_references"] as const)
    await tx.deleteFrom(table).where("repo", "=", repo).where("digest", "=", digest).execute();
}
