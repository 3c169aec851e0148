import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DetachRegistryUpstreamResponseSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { followStateOf } from "./follow-state.ts";
import { tagTtlMs } from "./stand-ins.ts";

interface Counted {
  repos: number;
  tags: number;
  checked: number;
  stale: number | null;
  oldest: number | null;
}

/** What stays here of a registry, and what of it may be behind. */
export async function whatStays(
  { tx, nowMs }: Call,
  upstream: Row<"registry_upstreams">,
): Promise<MessageInitShape<typeof DetachRegistryUpstreamResponseSchema>> {
  const { uid, registry } = upstream;
  const [found] = await select<Counted>(
    tx,
    `select count(distinct o.repo) as repos, count(t.uid) as tags, count(c.check_time) as checked,
       sum(case when t.uid is not null and coalesce(c.check_time, 0) < ? then 1 else 0 end) as stale,
       min(c.check_time) as oldest
     from upstream_repos as o left join tags as t on t.parent = o.repo
       left join upstream_tags as c on c.repo = o.repo and c.tag = t.name
     where o.upstream = ?`,
    [nowMs - tagTtlMs(upstream), uid],
  );
  const { repos = 0, tags = 0, checked = 0, stale, oldest } = found ?? {};
  const following = await behind(tx, upstream, nowMs);
  const isKnown = checked === tags && typeof oldest === "number";
  return {
    uid,
    registry,
    repos: BigInt(repos),
    tags: BigInt(tags),
    staleTags: BigInt(stale ?? 0),
    ...(isKnown && { oldestCheckTime: timestamp(oldest) }),
    ...following,
  };
}

/** What of that which is followed is not here by the last turn, and how long ago one was whole. */
async function behind(
  tx: Database,
  { uid, follow, follow_state: text }: Row<"registry_upstreams">,
  nowMs: number,
): Promise<Pick<MessageInitShape<typeof DetachRegistryUpstreamResponseSchema>, "missingTags" | "late">> {
  if (follow === null) return {};
  const row = await tx
    .selectFrom("upstream_follows")
    .select("success_time")
    .where("upstream", "=", uid)
    .executeTakeFirst();
  const since = row?.success_time;
  const state = followStateOf(text);
  return {
    ...(state.lastAttemptTime !== undefined && {
      missingRepositories: state.missingRepositories,
      missingTags: state.missingTags,
    }),
    ...(typeof since === "number" && { late: { seconds: BigInt(Math.max(0, Math.ceil((nowMs - since) / 1000))) } }),
  };
}
