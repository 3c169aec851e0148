import type {
  Counter,
  CounterConfiguration,
  Gauge,
  GaugeConfiguration,
  Histogram,
  HistogramConfiguration,
} from "prom-client";

/** Makes metrics of one server. Areas do not load the library of metrics themselves: the writer thread has none. */
export interface MetricMaker {
  counter<Label extends string>(options: CounterConfiguration<Label>): Counter<Label>;
  gauge<Label extends string>(options: GaugeConfiguration<Label>): Gauge<Label>;
  histogram<Label extends string>(options: HistogramConfiguration<Label>): Histogram<Label>;
}

/** Metrics that an area declares. Each server registers them once. */
export interface AreaMetrics<T> {
  /** Registers them, so that they are on `/metrics`, and answers how they are set. */
  register(make: MetricMaker): T;
}
