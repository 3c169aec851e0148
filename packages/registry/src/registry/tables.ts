import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    repos: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      catalog_tier: number;
      bundles: string;
      readme: string;
      aliases: string;
      active_tags: string;
      /** SyncConfig without its password, and TagPolicy, as proto3 JSON; null when there is none. */
      sync_config: string | null;
      tag_policy: string | null;
      /** RepoProduct as proto3 JSON; null when there is none. */
      product: string | null;
      /** RepoDeprecation as proto3 JSON; null when there is none. */
      deprecation: string | null;
      create_time: number;
      update_time: number;
    };
    tags: {
      uid: string;
      parent: string;
      name: string;
      digest: string;
      deprecated: number;
      bundles: string;
      create_time: number;
      update_time: number;
      /** Exact to a minute; null when no pull is known. */
      last_pull_time: Generated<number | null>;
      /** When it is deleted; null for a tag that has no end. */
      expire_time: Generated<number | null>;
      /** Of tags by which cosign attaches: who made it point to its digest. See manifests.pushed_by. */
      moved_by: Generated<string>;
      may_advise: Generated<number>;
    };
    /**
     * Every digest that a tag pointed to. `reason`: push, api, mirror, promote or rollback; delete or retention (then
     * the digest is empty, as it is for a mirror's tag that is gone at its source); import, whatever was done there.
     * `source`: of the last, from where.
     */
    tag_history: {
      repo: string;
      tag: string;
      time: number;
      digest: string;
      actor: string;
      reason: string;
      source: Generated<string>;
    };
    /**
     * The last event of a repo's vulnerability gate about an image and an action (`pull`, `promote`), for a day.
     * `mode`: `rejected` or `previewed`; `findings`: see findingsHash.
     */
    gate_events: { repo: string; digest: string; action: string; mode: string; findings: string; time: number };
    /**
     * What is attached to the digest in the repo is to be looked at, because it may have changed: a row for each
     * reason, so that two pushes never write the same one. `backlog`: 1 for what was there before there were
     * attachments.
     */
    attachment_checks: { id: string; repo: string; digest: string; backlog: number; create_time: number };
    /** The same for signatures. */
    signature_checks: { id: string; repo: string; digest: string; backlog: number; create_time: number };
    /**
     * The quota of the group with the same uid. The limits: null where there is none. `used_bytes`: the sum of the
     * sizes in `quota_refs`. `counted_to`: up to where the content of the group is counted, as a position. `state`: a
     * number of QuotaState. `cache_bytes`: how much of what comes from other registries is kept, null without a limit;
     * `wanted_bytes`: what did not fit into that last, 0 when there is space for it. `is_set`: 0 when nobody has set a
     * quota, and the row only counts for that.
     */
    quotas: {
      uid: string;
      parent: string;
      bytes: number | null;
      repos: number | null;
      tags: number | null;
      libraries: number | null;
      soft_percent: number;
      used_bytes: number;
      counted_to: string;
      state: number;
      cache_bytes: Generated<number | null>;
      wanted_bytes: Generated<number>;
      is_set: Generated<number>;
      create_time: number;
      update_time: number;
    };
    /** The content that a quota counts: its size in bytes, and how often what is below its group has it. */
    quota_refs: { quota: string; digest: string; size: number; n: number };
    /**
     * What of the content of a quota's group is only history or a cache, and what open uploads there held, in bytes, at
     * `time`. Null where it could not be measured.
     */
    quota_shares: {
      quota: string;
      history_bytes: number | null;
      pending_bytes: number | null;
      cached_bytes: number | null;
      time: number;
    };
    /**
     * Pulls of a day of UTC, counted from 1970. `tag`: empty for pulls by digest; `digest`: empty for layers and
     * configurations, which have bytes and count as no pull; `identity`: empty without a log-in. Of repos that are
     * gone, too.
     */
    pull_days: {
      day: number;
      repo: string;
      tag: string;
      digest: string;
      identity: string;
      count: number;
      bytes: number;
      first_time: number;
      last_time: number;
    };
    /** When a manifest was last pulled or asked for, and by whom. */
    last_pulls: { repo: string; digest: string; time: number; identity: string };
    /** Which images run at a source, by the word of an identity. `time`: when that was seen last. */
    running_images: { repo: string; digest: string; source: string; identity: string; time: number };
    /** Since when pulls are counted. At most one row. */
    pull_coverage: { id: number; since: number };
    /**
     * The processes that count pulls. `time`: when one last wrote what it had counted; `until_time`: the agreed time
     * from which on it counts as crashed.
     */
    pull_counters: { id: string; time: number; until_time: number };
    /** Days of which pulls are missing. `pulls`: how many are known to be. */
    pull_gaps: { day: number; pulls: number };
    /** What a group with all below it takes up. `at_least`: 1 when there is more than was counted. */
    usage_days: { grp: string; day: number; bytes: number; at_least: number; time: number };
  }
}

export const REGISTRY_TABLES = declareTables({
  repos: { key: ["uid"], weight: "length(readme) + length(description) + length(active_tags)" },
  tags: { key: ["uid"] },
  tag_history: { key: ["repo", "tag", "time"] },
  gate_events: { key: ["repo", "digest", "action"] },
  attachment_checks: { key: ["id"] },
  signature_checks: { key: ["id"] },
  quotas: { key: ["uid"] },
  quota_refs: { key: ["quota", "digest"] },
  // Measured anew wherever it is missing.
  quota_shares: { key: ["quota"], isLive: true },
  pull_days: { key: ["repo", "day", "digest", "tag", "identity"] },
  last_pulls: { key: ["repo", "digest"] },
  running_images: { key: ["repo", "digest", "source"] },
  // Of the time between an export and its import nothing is known: counting begins again there.
  pull_coverage: { key: ["id"], isLive: true },
  pull_counters: { key: ["id"], isLive: true },
  pull_gaps: { key: ["day"] },
  usage_days: { key: ["grp", "day"] },
});
