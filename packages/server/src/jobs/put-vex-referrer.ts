import { audit } from "@moorage/kernel/audit";
import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import {
  emitCollection,
  emitCopy,
  keepBlob,
  removeStoredManifest,
  storeManifest,
  type StoredManifest,
} from "@moorage/registry/oci";
import { OPENVEX, repoOfOwnVex } from "@moorage/security/security";
import type { Database } from "@moorage/kernel/store";

/** The VEX of an image, to be attached to it in a repo. */
export interface VexReferrer {
  repo: string;
  /** The image or index. */
  subject: string;
  /** The manifest with its contents, which are stored already. Undefined when nothing is said any more. */
  made?: { stored: StoredManifest; blobs: StoredBlob[] };
}

/** What this server has attached to the digest in the repo: manifests by digest, with their annotations as JSON. */
export async function attachedVex(
  tx: Database,
  repo: string,
  subject: string,
): Promise<{ digest: string; annotations: string }[]> {
  const rows = await tx
    .selectFrom("manifests")
    .select(["digest", "annotations"])
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .where("artifact_type", "=", OPENVEX)
    .execute();
  return rows.filter(({ annotations }) => repoOfOwnVex(annotations) === repo);
}

/**
 * Attaches the VEX of an image in place of what was attached before, in one transaction; what a tag or an index names
 * stays. Answers how many manifests were removed, and the generations of the contents that are kept: undefined where
 * nothing was written because the repo does not hold the image any longer.
 *
 * On PostgreSQL it is READ COMMITTED, so that it does not conflict with pushes: it first changes the rows of the blobs
 * that it needs, which keeps a collection from removing them.
 */
export const putVexReferrer = command(
  "jobs.putVexReferrer",
  async (call: Call, { repo, subject, made }: VexReferrer): Promise<{ removed: number; generations?: string[] }> => {
    const { tx } = call;
    const image = await tx
      .selectFrom("manifests")
      .select("digest")
      .where("repo", "=", repo)
      .where("digest", "=", subject)
      .executeTakeFirst();
    if (image === undefined) return { removed: 0 };
    const generations: string[] = [];
    for (const blob of made?.blobs ?? []) generations.push((await keepBlob(call, repo, blob)).generation);
    if (made !== undefined) {
      const { missing, isNew } = await storeManifest(call, repo, made.stored);
      if (missing.length > 0) throw new Error(`${missing.join()} was stored in this transaction, and is missing`);
      if (isNew) {
        const { digest } = made.stored;
        await emitCopy(call, { repo, digest, type: "manifest" });
        await audit(call, { method: "registry.vex.put", resource: repo, isSystem: true, details: { digest, subject } });
      }
    }
    const removed: string[] = [];
    for (const { digest } of await attachedVex(tx, repo, subject))
      if (digest !== made?.stored.digest && (await removeStoredManifest(call, repo, digest))) removed.push(digest);
    await emitCollection(call, { repo, type: "manifest", digests: removed });
    if (made === undefined && removed.length > 0)
      await audit(call, { method: "registry.vex.delete", resource: repo, isSystem: true, details: { subject } });
    return { removed: removed.length, generations };
  },
  { isolation: "read committed" },
);
