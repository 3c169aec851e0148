// The parts of Grafana's dashboards, as far as ours need them.

/** A query: PromQL in which `$S` stands for the matchers of job and instance; and the legend of its lines. */
export type Query = readonly [expression: string, legend?: string];

/** The unit of a panel's values, by Grafana's names: of a second, of bytes. */
type Unit = "short" | "s" | "bytes" | "Bps" | "reqps" | "ops" | "percentunit" | "dateTimeFromNow";

/** A panel: over the time, or (`now`) one number of this moment. */
export interface Panel {
  title: string;
  kind: "lines" | "now";
  unit: Unit;
  queries: readonly Query[];
  /** What the reader has to know beyond the title. */
  about?: string;
}

/** A dashboard. `uid` is part of its URL in Grafana, and of links to it. */
export interface Dashboard {
  uid: string;
  title: string;
  about: string;
  rows: readonly { title: string; panels: readonly Panel[] }[];
}

/** Lines over the time. */
export function lines(title: string, unit: Unit, ...queries: Query[]): Panel {
  return { title, kind: "lines", unit, queries };
}

/** A number of this moment. */
export function now(title: string, unit: Unit, expression: string): Panel {
  return { title, kind: "now", unit, queries: [[expression]] };
}

/** The percentiles of a histogram, by one of its labels. `matchers` end with a comma, or are empty. */
export function percentile(quantile: number, metric: string, by: string, matchers = ""): Query {
  const rate = `rate(${metric}_bucket{${matchers}$S}[$__rate_interval])`;
  return [`histogram_quantile(${quantile}, sum by (${by}, le) (${rate}))`, `{{${by}}}`];
}

/** How often a counter grows in a second, by one of its labels. `matchers` end with a comma, or are empty. */
export function rate(metric: string, by: string, matchers = ""): Query {
  return [`sum by (${by}) (rate(${metric}{${matchers}$S}[$__rate_interval]))`, `{{${by}}}`];
}

/** How long one of what a counter counts took on average, by one of its labels; the ten slowest. */
export function mean(seconds: string, count: string, by: string): Query {
  const sum = (metric: string): string => `sum by (${by}) (rate(${metric}{$S}[$__rate_interval]))`;
  return [`topk(10, ${sum(seconds)} / ${sum(count)})`, `{{${by}}}`];
}
