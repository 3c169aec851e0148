import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { sharedReading } from "@moorage/kernel/core/shared-reading";
import { type Database, select } from "@moorage/kernel/store";
import { followRules } from "./follow-rules.ts";

/** Metrics of registries that are followed. */
interface FollowMetrics {
  /** Sets the source of how late they are, in milliseconds; it is read at each scrape. */
  watch(read: () => Promise<number>): void;
}

function register(make: MetricMaker): FollowMetrics {
  const reading = sharedReading<number>();
  make.gauge({
    name: "moorage_follow_late_seconds",
    help: "For how long the followed registry that is behind the most has been behind its interval.",
    aggregator: "max",
    async collect() {
      const lateMs = await reading.look();
      if (lateMs !== undefined) this.set(lateMs / 1000);
    },
  });
  return { watch: reading.from };
}

/** Metrics of registries that are followed. */
export const followMetrics: AreaMetrics<FollowMetrics> = { register };

const MAX_FOLLOWS = 10_000;

/**
 * For how many milliseconds the registry that is behind the most has been behind its interval, without disabled ones: 0
 * when all were here as they were within that.
 */
export async function followsLateMs(db: Database, nowMs: number): Promise<number> {
  const rows = await select<{ since: number; follow: string }>(
    db,
    `select coalesce(f.success_time, f.begin_time) as since, u.follow from upstream_follows as f
     join registry_upstreams as u on u.uid = f.upstream
     where u.disabled = 0 and u.follow is not null order by since limit ${MAX_FOLLOWS}`,
    [],
  );
  return Math.max(0, ...rows.map(({ since, follow }) => nowMs - since - followRules(follow).intervalMs));
}
