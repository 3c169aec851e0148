import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { statement } from "@moorage/kernel/store";
import { deleteTag } from "../registry/index.ts";
import { type MirrorPlace, requirePlace } from "./commands.ts";

/** A tag of a repo that was copied, and was last moved by that. */
export interface CopiedTag {
  name: string;
  digest: string;
}

const PAGE = 1_000;
const WAS_COPIED = `(select h.reason from tag_history as h where h.repo = t.parent and h.tag = t.name
  order by h.time desc limit 1) in ('mirror', 'import')`;
const selectCopied = statement<CopiedTag>(
  `select t.name, t.digest from tags as t where t.parent = ? and t.name > ? and ${WAS_COPIED}
   order by t.name limit ${PAGE}`,
  ["text", "text"],
);
const selectOne = statement<CopiedTag>(
  `select t.name, t.digest from tags as t where t.parent = ? and t.name = ? and ${WAS_COPIED}`,
  ["text", "text"],
);

/** A page of the tags of a repo that were copied, those after a name. */
export async function copiedTags({ tx }: Call, repo: string, after: string): Promise<CopiedTag[]> {
  return await selectCopied(tx, repo, after);
}

/**
 * Deletes a copied tag that the source has no longer, unless it was moved or deleted since. Answers whether it was
 * deleted. Throws FAILED_PRECONDITION (TAG_PROTECTED) if the repo's policy protects the tag.
 */
export const deleteGoneTag = command(
  "mirroring.deleteGoneTag",
  async (call: Call, { name, digest, ...place }: MirrorPlace & CopiedTag): Promise<{ deleted: boolean }> => {
    await requirePlace(call, place);
    const { repo } = place;
    const [found] = await selectOne(call.tx, repo, name);
    if (found?.digest !== digest) return { deleted: false };
    const deleted = await deleteTag(call, { repo, name, reason: "mirror" });
    if (deleted)
      await audit(call, {
        method: "registry.mirror.delete",
        resource: repo,
        isSystem: true,
        details: { name, digest },
      });
    return { deleted };
  },
);
