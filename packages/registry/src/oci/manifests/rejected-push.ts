import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { quotaOfError, removeContent } from "../../registry/index.ts";
import { type Freed, freeUnlinked } from "../gc/commands.ts";
import { PUSH, repositoryFor } from "../names.ts";
import type { Exchange } from "../request.ts";

const DAY_MS = 24 * 3_600_000;
const CHUNK = 200;

/**
 * Unlinks those of the blobs that were linked to the repo in the last day and that no manifest of it needs: they came
 * for a manifest that was rejected. `freed` are those that nothing has any longer, to be removed from the blob store.
 */
export const unlinkRejected = command(
  "oci.unlinkRejected",
  async (call: Call, { name, digests }: { name: string; digests: readonly string[] }): Promise<{ freed: Freed[] }> => {
    const { tx, nowMs } = call;
    const repo = await repositoryFor(call, name, ...PUSH);
    const freed: Freed[] = [];
    for (let at = 0; at < digests.length; at += CHUNK) {
      const rows = await tx
        .deleteFrom("repo_blobs")
        .where("repo", "=", repo)
        .where("digest", "in", digests.slice(at, at + CHUNK))
        .where("create_time", ">=", nowMs - DAY_MS)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("manifest_references as r")
                .select("r.target")
                .where("r.repo", "=", repo)
                .whereRef("r.target", "=", "repo_blobs.digest"),
            ),
          ),
        )
        .returning("digest")
        .execute();
      const unlinked = rows.map(({ digest }) => digest);
      if (unlinked.length === 0) continue;
      await removeContent(tx, "blob", repo, unlinked);
      freed.push(...(await freeUnlinked(tx, unlinked)));
    }
    return { freed };
  },
);

/**
 * Writes a manifest with `write`. When a quota rejects it, the blobs that came for it go again, so that what was not
 * admitted takes no space of what is left.
 */
export async function withoutLeftovers<T>(
  { deps, callData, name }: Exchange,
  digests: readonly string[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (quotaOfError(error) === undefined) throw error;
    const { freed } = await deps.transactor.write(unlinkRejected, callData, { name, digests });
    for (const { digest, generation } of freed) await deps.blobs.remove(digest, generation);
    throw error;
  }
}
