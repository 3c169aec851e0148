import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { sharedReading } from "@moorage/kernel/core/shared-reading";
import type { QuotaFigure } from "./figures.ts";

/** Metrics of quotas. */
export interface QuotaMetrics {
  /** Sets the source of what is used and allowed; it is read at each scrape. */
  watch(read: () => Promise<readonly QuotaFigure[]>): void;
}

function register(make: MetricMaker): QuotaMetrics {
  const reading = sharedReading<readonly QuotaFigure[]>();
  const gauge = (name: string, help: string, valueOf: (figure: QuotaFigure) => number): void => {
    make.gauge({
      name,
      help,
      labelNames: ["group", "what"],
      aggregator: "max",
      async collect() {
        const figures = await reading.look();
        if (figures === undefined) return;
        this.reset();
        for (const figure of figures) this.set({ group: figure.group, what: figure.what }, valueOf(figure));
      },
    });
  };
  gauge("moorage_quota_used", "What is used of a quota, of what it limits.", ({ used }) => used);
  gauge("moorage_quota_limit", "What a quota allows.", ({ limit }) => limit);
  return { watch: reading.from };
}

/** Metrics of quotas. */
export const quotaMetrics: AreaMetrics<QuotaMetrics> = { register };
