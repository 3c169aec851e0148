/** A metric with its values, in the form in which prom-client passes them between processes. */
interface MetricData {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  /** How the values of several processes are combined. */
  aggregator: "sum";
  values: { labels: Record<string, string | number>; value: number; metricName?: string }[];
}

/** Upper bounds in seconds: from a cached read to a large upload. Each is one more time series for every group. */
const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** What is under way and how long it took, of all names of a group. */
interface Group {
  readonly name: string;
  underWay: number;
  seconds: number;
  /** How many took at most this bound and longer than the one before; the last bucket has those above all bounds. */
  readonly buckets: Float64Array;
}

/**
 * The values of one name. They are plain numbers because a request updates several of them, and prom-client looks up
 * its labels at each update.
 */
export interface Series {
  readonly name: string;
  readonly group: Group;
  seconds: number;
  readonly outcomes: Map<string, { count: number }>;
}

/** Traffic, errors, latency and saturation of one kind of work, by name. */
export interface GoldenSignals {
  /** `name`: from a bounded set, never a value from the request. */
  begin(name: string): Series;
  /** `seconds`: the duration. `outcome`: from a bounded set. */
  end(series: Series, outcome: string, seconds: number): void;
  collect(): MetricData[];
}

export interface GoldenOptions {
  /**
   * Metrics are called `<prefix>_<noun>s_total`, `<prefix>_<noun>_duration_seconds` and `<prefix>_<noun>s_in_flight`.
   */
  prefix: string;
  noun: string;
  /** What is counted, for the help texts: "API calls". */
  what: string;
  /** The label of the name, and the label of the outcome. */
  label: string;
  outcome: string;
  /**
   * Where there are hundreds of names, a histogram for each would be thousands of time series. Then names have groups:
   * the histogram and what is under way are by group, under this label, and `<prefix>_<noun>_seconds_total` adds up
   * how long each name took. Without it every name is a group of its own.
   */
  groups?: { label: string; of(name: string): string };
}

/** The metrics of one kind of work: three, or four where names have groups. */
export function goldenSignals({ prefix, noun, what, label, outcome, groups }: GoldenOptions): GoldenSignals {
  const all = new Map<string, Series>();
  const allGroups = new Map<string, Group>();
  const groupLabel = groups?.label ?? label;
  const groupNamed = (name: string): Group => {
    const found = allGroups.get(name);
    if (found !== undefined) return found;
    const group = { name, underWay: 0, seconds: 0, buckets: new Float64Array(BOUNDS_S.length + 1) };
    allGroups.set(name, group);
    return group;
  };
  const add = (name: string): Series => {
    const series: Series = { name, group: groupNamed(groups?.of(name) ?? name), seconds: 0, outcomes: new Map() };
    all.set(name, series);
    return series;
  };
  const metric = (
    name: string,
    type: MetricData["type"],
    help: string,
    values: MetricData["values"][],
  ): MetricData => ({ name: `${prefix}_${name}`, type, help, aggregator: "sum", values: values.flat() });
  const duration = `${noun}_duration_seconds`;
  return {
    begin(name) {
      const series = all.get(name) ?? add(name);
      series.group.underWay++;
      return series;
    },
    end(series, ended, seconds) {
      const { group } = series;
      group.underWay--;
      group.seconds += seconds;
      series.seconds += seconds;
      let at = 0;
      while (at < BOUNDS_S.length && seconds > (BOUNDS_S[at] ?? 0)) at++;
      group.buckets[at] = (group.buckets[at] ?? 0) + 1;
      const counted = series.outcomes.get(ended);
      if (counted === undefined) series.outcomes.set(ended, { count: 1 });
      else counted.count++;
    },
    collect() {
      const named = [...all.values()];
      const grouped = [...allGroups.values()];
      const metrics = [
        metric(
          `${noun}s_total`,
          "counter",
          `How many ${what} ended, by ${outcome}.`,
          named.map(({ name, outcomes }) =>
            [...outcomes].map(([ended, { count }]) => ({ labels: { [label]: name, [outcome]: ended }, value: count })),
          ),
        ),
        metric(
          duration,
          "histogram",
          `How long ${what} took.`,
          grouped.map((group) => histogramValues(`${prefix}_${duration}`, groupLabel, group)),
        ),
        metric(
          `${noun}s_in_flight`,
          "gauge",
          `How many ${what} are under way.`,
          grouped.map(({ name, underWay }) => [{ labels: { [groupLabel]: name }, value: underWay }]),
        ),
      ];
      if (groups === undefined) return metrics;
      const total = metric(
        `${noun}_seconds_total`,
        "counter",
        `How long ${what} took together.`,
        named.map(({ name, seconds }) => [{ labels: { [label]: name }, value: seconds }]),
      );
      return [...metrics, total];
    },
  };
}

/** In Prometheus a bucket includes all smaller ones. */
function histogramValues(metric: string, label: string, { name, seconds, buckets }: Group): MetricData["values"] {
  let count = 0;
  const values = [...buckets].map((inBucket, at) => ({
    metricName: `${metric}_bucket`,
    labels: { le: BOUNDS_S[at] ?? "+Inf", [label]: name },
    value: (count += inBucket),
  }));
  return [
    ...values,
    { metricName: `${metric}_sum`, labels: { [label]: name }, value: seconds },
    { metricName: `${metric}_count`, labels: { [label]: name }, value: count },
  ];
}
