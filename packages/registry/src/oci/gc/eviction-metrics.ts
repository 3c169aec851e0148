import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { sharedReading } from "@moorage/kernel/core/shared-reading";
import type { Counter } from "prom-client";
import type { CacheUse } from "../../registry/index.ts";
import type { Evicted } from "./evict.ts";

/** Metrics of what is kept of other registries. */
export interface EvictionMetrics {
  /** Counts what made space for what is pulled next. */
  evicted(went: Evicted): void;
  /** Sets the source of how much groups with a limit keep; it is read at each scrape. */
  watch(read: () => Promise<readonly Pick<CacheUse, "group" | "used" | "limit">[]>): void;
}

function register(make: MetricMaker): EvictionMetrics {
  const reading = sharedReading<readonly Pick<CacheUse, "group" | "used" | "limit">[]>();
  const counter = (name: string, help: string): Counter =>
    make.counter({ name: `moorage_upstream_evicted_${name}_total`, help });
  const counters = {
    tags: counter("tags", "Tags of other registries that were deleted here to make space."),
    manifests: counter("manifests", "Manifests of other registries that were removed here to make space."),
    bytes: counter("bytes", "Bytes of content of other registries that was removed here to make space."),
  };
  const gauge = (name: string, help: string, valueOf: (use: { used: number; limit: number }) => number): void => {
    make.gauge({
      name: `moorage_upstream_${name}_bytes`,
      help,
      labelNames: ["group"],
      aggregator: "max",
      async collect() {
        const uses = await reading.look();
        if (uses === undefined) return;
        this.reset();
        for (const use of uses) this.set({ group: use.group }, valueOf(use));
      },
    });
  };
  gauge("kept", "What a group holds that stands for another registry, where that is limited.", ({ used }) => used);
  gauge("max", "How much such a group may hold.", ({ limit }) => limit);
  return {
    evicted(went) {
      for (const key of ["tags", "manifests", "bytes"] as const) counters[key].inc(went[key]);
    },
    watch: reading.from,
  };
}

/** Metrics of what is kept of other registries, and of what goes to make space. */
export const evictionMetrics: AreaMetrics<EvictionMetrics> = { register };
