import type { Counter } from "prom-client";

/**
 * Has a counter begin with a sample of 0 for every combination of these values of its labels. Without them a sample
 * begins with its first event, at 1, and `increase()` does not see that one. For small sets that are known beforehand.
 */
export function beginAtZero<Label extends string>(
  counter: Counter<Label>,
  values: Record<Label, readonly string[]>,
): void {
  const labels = Object.keys(values) as Label[];
  const combinations = labels.reduce<Partial<Record<Label, string>>[]>(
    (all, label) => all.flatMap((one) => values[label].map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
  for (const each of combinations) counter.inc(each, 0);
}
