import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DetachRegistryUpstreamResponseSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Row, select } from "@moorage/kernel/store";
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
  const isKnown = checked === tags && typeof oldest === "number";
  return {
    uid,
    registry,
    repos: BigInt(repos),
    tags: BigInt(tags),
    staleTags: BigInt(stale ?? 0),
    ...(isKnown && { oldestCheckTime: timestamp(oldest) }),
  };
}
