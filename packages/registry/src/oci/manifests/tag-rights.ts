import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { denied, lackingOf } from "../names.ts";

/** The tags of a push to the image of that name, and what they are to point to. */
interface PushedTags {
  name: string;
  tags: string[];
  digest: string;
}

const TAG_RIGHTS: readonly Capability[] = [Capability.CAP_TAG_CREATE, Capability.CAP_TAG_UPDATE];

/**
 * Throws DENIED unless the caller may create those of the tags that are new and update those that move. The error lists
 * both rights where both are lacking, so that it does not reveal which tags exist.
 */
export async function checkTagRights(call: Call, repo: string, pushed: PushedTags): Promise<void> {
  if (pushed.tags.length === 0) return;
  const needed = await neededForTags(call, repo, pushed);
  const lacking = await lackingOf(call, repo, TAG_RIGHTS);
  if (needed.some((capability) => lacking.includes(capability))) throw denied(call, pushed.name, lacking);
}

/** The capabilities that tags of a push need: one for those that are new, one for those that move. */
export async function neededForTags(
  call: Call,
  repo: string,
  { tags, digest }: Omit<PushedTags, "name">,
): Promise<Capability[]> {
  if (tags.length === 0) return [];
  const known = await call.tx
    .selectFrom("tags")
    .select(["name", "digest"])
    .where("parent", "=", repo)
    .where("name", "in", tags)
    .execute();
  return [
    ...(known.length < tags.length ? [Capability.CAP_TAG_CREATE] : []),
    ...(known.some((tag) => tag.digest !== digest) ? [Capability.CAP_TAG_UPDATE] : []),
  ];
}
