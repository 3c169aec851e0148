import { audit } from "@moorage/kernel/audit";
import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { notFound } from "@moorage/kernel/errors";
import { emitCopy } from "../events.ts";
import { findBlob } from "../find-blob.ts";
import { keepBlob } from "./commands.ts";
import { copyOf } from "./copies.ts";

/** Content for a repo: stored for it, or thought to be here, and then without a generation. */
export interface AdoptableBlob extends Omit<StoredBlob, "generation"> {
  generation?: string;
}

/** The copies to retain, by digest; `missing`: what was thought to be here, and is not. */
interface Adopted {
  retained: { digest: string; generation: string }[];
  missing: string[];
}

/**
 * Links content that the operator brings to the repo, without a check of rights. Throws NOT_FOUND without such a repo,
 * and FAILED_PRECONDITION (QUOTA_EXCEEDED) when it does not fit into a quota above it; then nothing is linked.
 */
export const adoptBlobs = command(
  "oci.adoptBlobs",
  async (call: Call, { repo, blobs }: { repo: string; blobs: readonly AdoptableBlob[] }): Promise<Adopted> => {
    await requireRepo(call, repo);
    const retained: Adopted["retained"] = [];
    const missing: string[] = [];
    let linked = { blobs: 0, bytes: 0 };
    for (const { digest, size, generation } of blobs) {
      const copy = generation ?? (await copyOf(call, digest))?.generation;
      if (copy === undefined) {
        missing.push(digest);
        continue;
      }
      const isNew = (await findBlob(call, repo, digest)) === undefined;
      const kept = await keepBlob(call, repo, { digest, size, generation: copy });
      retained.push({ digest, generation: kept.generation });
      if (!isNew) continue;
      linked = { blobs: linked.blobs + 1, bytes: linked.bytes + size };
      await emitCopy(call, { repo, digest, type: "blob" });
    }
    if (linked.blobs > 0) {
      const details = { blobs: String(linked.blobs), bytes: String(linked.bytes) };
      await audit(call, { method: "registry.blob.adopt", resource: repo, isSystem: true, details });
    }
    return { retained, missing };
  },
);

async function requireRepo(call: Call, repo: string): Promise<void> {
  const found = await call.tx.selectFrom("repos").select("uid").where("uid", "=", repo).executeTakeFirst();
  if (found === undefined) throw notFound("moorage.registry.v2.Repo", repo);
}
