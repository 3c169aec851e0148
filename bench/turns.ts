import { median } from "./median.ts";
import { figure, grid, type Report } from "./report.ts";

/** What is read of the report of one run. */
export type Run = Pick<Report, "sections" | "figures">;

/** A row or figure of two builds, over all turns. */
interface Compared {
  title: string;
  /** What is compared: the server's processor time, or what was measured, in this unit. */
  unit: string;
  before: number;
  after: number;
  /** What the other build takes by what this one takes, of each turn: above 1, this one is better. */
  ratios: readonly number[];
}

/** The rows of two builds, and the titles of those that only one has, or that failed in one. */
export interface Comparison {
  rows: readonly Compared[];
  notCompared: readonly string[];
}

interface Value {
  unit: string;
  value: number;
  /** Whether more is better, as of a rate. */
  isRate: boolean;
}

/**
 * Compares runs of two builds, turn by turn: by processor times where there are any, since other work distorts them
 * least.
 */
export function comparison(pairs: readonly { before: Run; after: Run }[]): Comparison {
  const read = pairs.map(({ before, after }) => ({ before: valuesOf(before), after: valuesOf(after) }));
  const titles = [...new Set(read.flatMap(({ before, after }) => [...before.keys(), ...after.keys()]))];
  const rows: Compared[] = [];
  const notCompared: string[] = [];
  for (const title of titles) {
    const both = read.flatMap(({ before, after }) => {
      const [old, now] = [before.get(title), after.get(title)];
      return old === undefined || now === undefined || old.unit !== now.unit ? [] : [{ old, now }];
    });
    const [first] = both;
    if (first === undefined || both.length < pairs.length) notCompared.push(title);
    else
      rows.push({
        title,
        unit: first.now.unit,
        before: median(both.map(({ old }) => old.value)),
        after: median(both.map(({ now }) => now.value)),
        ratios: both.map(({ old, now }) => (now.isRate ? now.value / old.value : old.value / now.value)),
      });
  }
  return { rows, notCompared };
}

function valuesOf({ sections, figures }: Run): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const { title, unit, median: rate, cpuUs, failure } of sections.flatMap(({ lines }) => lines))
    if (failure === undefined)
      values.set(
        title,
        cpuUs === undefined
          ? { unit, value: rate, isRate: unit.endsWith("/s") }
          : { unit: "server µs", value: cpuUs, isRate: false },
      );
  for (const { title, unit, value } of figures) values.set(title, { unit, value, isRate: false });
  return values;
}

/** The comparison as a table of Markdown, with what was not compared below it. */
export function turnsTable({ rows, notCompared }: Comparison): string {
  const table = grid(
    ["row", "unit", "before", "after", "×", "lowest to highest"],
    rows.map(({ title, unit, before, after, ratios }) => [
      title,
      unit,
      figure(before),
      figure(after),
      figure(median([...ratios])),
      `${figure(Math.min(...ratios))} to ${figure(Math.max(...ratios))}`,
    ]),
    [0, 1],
  );
  const missing = notCompared.length === 0 ? "" : `\n\nin one build only, or failed:\n- ${notCompared.join("\n- ")}`;
  return `${table}${missing}`;
}
