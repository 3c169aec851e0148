import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command, whileFull } from "@moorage/kernel/core/command";
import type { ExpireInput } from "./retention.ts";
import type { EndedTags } from "./tag-ends.ts";
import { policyOf } from "./policies.ts";
import { noteGatedPull } from "./gate-events.ts";
import { quotaCommands } from "./quotas/commands.ts";
import { pullCommands } from "./pulls/commands.ts";
import { writeUsage } from "./usage/measure.ts";
import { isFromUpstream } from "./stand-ins.ts";
import { deleteTags } from "./tag-moves.ts";

/**
 * Deletes expired tags, unless the repo's policy has changed or the tag has moved since they were found. Checks no
 * rights: it is for jobs of the server.
 */
export const expireTags = command(
  "registry.expireTags",
  async (call: Call, { repo, policy, tags }: ExpireInput): Promise<{ expired: number }> => {
    const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    if (row?.tag_policy !== policy || tags.length === 0) return { expired: 0 };
    const names = await unmovedOf(call, tags);
    const expired = await deleteTags(call, { repo, names, reason: "retention" });
    const details = { count: String(expired), tags: names.join(" ") };
    if (expired > 0)
      await audit(call, { method: "registry.retention.expire", resource: repo, isSystem: true, details });
    return { expired };
  },
);

/** The names of those of the tags that have not moved since they were found. */
async function unmovedOf({ tx }: Call, tags: ExpireInput["tags"]): Promise<string[]> {
  const uids = tags.map(({ uid }) => uid);
  const found = await tx.selectFrom("tags").select(["uid", "update_time"]).where("uid", "in", uids).execute();
  const times = new Map(found.map(({ uid, update_time }) => [uid, update_time]));
  return tags.filter(({ uid, update_time }) => times.get(uid) === update_time).map(({ name }) => name);
}

/**
 * Deletes tags of a repo that came from another registry, since its group has no space for them, unless they have moved
 * since they were found or the repo's policy protects them. Checks no rights: it is for jobs of the server.
 */
export const evictTags = command(
  "registry.evictTags",
  async (call: Call, { repo, tags }: Omit<ExpireInput, "policy">): Promise<{ evicted: number }> => {
    const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    if (row === undefined || tags.length === 0 || !(await isFromUpstream(call.tx, repo))) return { evicted: 0 };
    const { isProtected } = policyOf(row.tag_policy);
    const names = (await unmovedOf(call, tags)).filter((name) => !isProtected(name));
    const evicted = await deleteTags(call, { repo, names, reason: "retention" });
    const details = { count: String(evicted), tags: names.join(" ") };
    if (evicted > 0) await audit(call, { method: "registry.cache.evict", resource: repo, isSystem: true, details });
    return { evicted };
  },
);

/**
 * Deletes the tags of a repo that were to end by this time, unless they were given another end, or the repo's policy
 * protects them. Checks no rights: it is for jobs of the server.
 */
export const endTags = command(
  "registry.endTags",
  async (call: Call, { repo, uids, endMs }: EndedTags): Promise<{ ended: number }> => {
    const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    if (row === undefined || uids.length === 0) return { ended: 0 };
    const { isProtected } = policyOf(row.tag_policy);
    const found = await call.tx
      .selectFrom("tags")
      .select("name")
      .where("parent", "=", repo)
      .where("uid", "in", [...uids])
      .where("expire_time", "<=", endMs)
      .execute();
    const names = found.map(({ name }) => name).filter((name) => !isProtected(name));
    const ended = await deleteTags(call, { repo, names, reason: "expire" });
    const details = { count: String(ended), tags: names.join(" ") };
    if (ended > 0) await audit(call, { method: "registry.tags.expire", resource: repo, isSystem: true, details });
    return { ended };
  },
);

/** The commands of registry beside the methods of the API. */
export const registryCommands = [
  ...whileFull([expireTags, endTags, evictTags]),
  noteGatedPull,
  ...quotaCommands,
  ...pullCommands,
  writeUsage,
] as const;
