import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import type { Gauge } from "prom-client";
import { sharedReading } from "@moorage/kernel/core/shared-reading";

/** The state of a feed of security data. Times are milliseconds, `sinceMs` since 1970. */
interface FeedState {
  feed: string;
  /** When it was last brought up to date, or made. */
  sinceMs: number;
  /** Of the last import; null before it. */
  durationMs: number | null;
  records: number;
  problems: number;
  isFailing: boolean;
}

/** Metrics of feeds. They are read from the database, so that all processes have the same. */
export interface FeedMetrics {
  /** Sets the source of the states; it is read at each scrape. */
  watch(read: () => Promise<{ nowMs: number; feeds: readonly FeedState[] }>): void;
}

function register(make: MetricMaker): FeedMetrics {
  type Reading = { nowMs: number; feeds: readonly FeedState[] };
  const reading = sharedReading<Reading>();
  const gauge = (name: string, help: string, valueOf: (state: FeedState, nowMs: number) => number): Gauge =>
    make.gauge({
      name: `moorage_vulnerability_feed_${name}`,
      help,
      labelNames: ["feed"],
      aggregator: "max",
      async collect() {
        const now = await reading.look();
        if (now === undefined) return;
        this.reset();
        for (const state of now.feeds) this.set({ feed: state.feed }, valueOf(state, now.nowMs));
      },
    });
  gauge(
    "age_seconds",
    "Time since a feed was last brought up to date.",
    ({ sinceMs }, nowMs) => Math.max(0, nowMs - sinceMs) / 1000,
  );
  gauge(
    "import_duration_seconds",
    "How long the last import of a feed took.",
    ({ durationMs }) => (durationMs ?? 0) / 1000,
  );
  gauge("records", "Records of a feed.", ({ records }) => records);
  gauge("problems", "Records of a feed that could not be read.", ({ problems }) => problems);
  gauge("failing", "1 if the last attempt to bring a feed up to date failed.", ({ isFailing }) => (isFailing ? 1 : 0));
  return {
    watch: reading.from,
  };
}

/** Metrics of feeds. Their names come from the operator, who may add a hundred at most. */
export const feedMetrics: AreaMetrics<FeedMetrics> = { register };
