/** A metric with its values, in the form in which prom-client passes them between processes. */
interface MetricData {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  /** How the values of several processes are combined. */
  aggregator: "sum";
  values: { labels: Record<string, string | number>; value: number; metricName?: string }[];
}

/** Upper bounds in seconds: from a cached read to a large upload. */
const BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * The values of one name. They are plain numbers because a request updates several of them, and prom-client looks up
 * its labels at each update.
 */
export interface Series {
  readonly name: string;
  underWay: number;
  seconds: number;
  /** How many took at most this bound and longer than the one before; the last bucket has those above all bounds. */
  readonly buckets: Float64Array;
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
}

/** The three metrics of one kind of work. */
export function goldenSignals({ prefix, noun, what, label, outcome }: GoldenOptions): GoldenSignals {
  const all = new Map<string, Series>();
  const add = (name: string): Series => {
    const series: Series = {
      name,
      underWay: 0,
      seconds: 0,
      buckets: new Float64Array(BOUNDS_S.length + 1),
      outcomes: new Map(),
    };
    all.set(name, series);
    return series;
  };
  const metric = (
    name: string,
    type: MetricData["type"],
    help: string,
    valuesOf: (series: Series) => MetricData["values"],
  ): MetricData => ({
    name: `${prefix}_${name}`,
    type,
    help,
    aggregator: "sum",
    values: [...all.values()].flatMap(valuesOf),
  });
  const duration = `${noun}_duration_seconds`;
  return {
    begin(name) {
      const series = all.get(name) ?? add(name);
      series.underWay++;
      return series;
    },
    end(series, ended, seconds) {
      series.underWay--;
      series.seconds += seconds;
      let at = 0;
      while (at < BOUNDS_S.length && seconds > (BOUNDS_S[at] ?? 0)) at++;
      series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      const counted = series.outcomes.get(ended);
      if (counted === undefined) series.outcomes.set(ended, { count: 1 });
      else counted.count++;
    },
    collect: () => [
      metric(`${noun}s_total`, "counter", `How many ${what} ended, by ${outcome}.`, ({ name, outcomes }) =>
        [...outcomes].map(([ended, { count }]) => ({ labels: { [label]: name, [outcome]: ended }, value: count })),
      ),
      metric(duration, "histogram", `How long ${what} took.`, (series) =>
        histogramValues(`${prefix}_${duration}`, label, series),
      ),
      metric(`${noun}s_in_flight`, "gauge", `How many ${what} are under way.`, ({ name, underWay }) => [
        { labels: { [label]: name }, value: underWay },
      ]),
    ],
  };
}

/** In Prometheus a bucket includes all smaller ones. */
function histogramValues(metric: string, label: string, { name, seconds, buckets }: Series): MetricData["values"] {
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
