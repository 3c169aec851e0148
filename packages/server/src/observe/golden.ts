import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Seconds. From what a cached read takes to what a large upload does. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** One name's signals. Its children are bound once: a request makes no object of labels. */
export interface Series {
  readonly name: string;
  underWay: number;
  readonly observe: (seconds: number) => void;
  readonly outcomes: Map<string, { inc(): void }>;
}

/** Traffic, errors, latency and saturation of one kind of work, by name. */
export interface GoldenSignals {
  /** `name`: from a bounded set, never what a caller made up. */
  begin(name: string): Series;
  /** `seconds`: how long it took. `outcome`: from a bounded set. */
  end(series: Series, outcome: string, seconds: number): void;
}

export interface GoldenOptions {
  registry: Registry;
  /** Metrics are called `<prefix>_<noun>s_total`, `<prefix>_<noun>_duration_seconds` and `<prefix>_<noun>s_in_flight`. */
  prefix: string;
  noun: string;
  /** What is counted, for the help texts: "database transactions". */
  what: string;
  /** The label of the name, and that of the outcome. */
  label: string;
  outcome: string;
}

/** Registers the three metrics of one kind of work. */
export function goldenSignals({ registry, prefix, noun, what, label, outcome }: GoldenOptions): GoldenSignals {
  const all = new Map<string, Series>();
  const registers = [registry];
  const total = new Counter({ name: `${prefix}_${noun}s_total`, help: `How many ${what} ended, by ${outcome}.`, labelNames: [label, outcome], registers });
  const duration = new Histogram({ name: `${prefix}_${noun}_duration_seconds`, help: `How long ${what} took.`, labelNames: [label], buckets: BUCKETS_S, registers });
  registry.registerMetric(new Gauge({
    name: `${prefix}_${noun}s_in_flight`, help: `How many ${what} are under way.`, labelNames: [label], registers,
    collect() {
      for (const series of all.values()) this.set({ [label]: series.name }, series.underWay);
    },
  }));
  const add = (name: string): Series => {
    const series: Series = { name, underWay: 0, observe: duration.labels(name).observe, outcomes: new Map() };
    all.set(name, series);
    return series;
  };
  return {
    begin(name) {
      const series = all.get(name) ?? add(name);
      series.underWay++;
      return series;
    },
    end(series, ended, seconds) {
      series.underWay--;
      series.observe(seconds);
      let counted = series.outcomes.get(ended);
      if (counted === undefined) series.outcomes.set(ended, counted = total.labels(series.name, ended));
      counted.inc();
    },
  };
}
