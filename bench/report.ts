import { cpus, release, totalmem } from "node:os";
import type { HeavyLine } from "./heavy.ts";
import { median } from "./median.ts";
import type { Against, Sample } from "./rows.ts";
import type { Measured } from "./run.ts";
import type { ZbRun } from "./zb.ts";

/** The results of a row over all rounds. */
export interface Line {
  title: string;
  unit: string;
  median: number;
  lowest: number;
  highest: number;
  /** The median of the server's processor time for each request, or each MB, in microseconds. */
  cpuUs?: number;
  /**
   * The share of a core that the server used, from 0 to 1: less than 1 when it waits, or when other processes use the
   * core as well.
   */
  serverShare?: number;
  /** The maximum share of its core that the load generator used, from 0 to 1. */
  loadShare?: number;
  against: Comparison[];
  /** The minimum rate to reach; the maximum, where less is better. */
  least?: number;
  most?: number;
  failure?: string;
}

interface Comparison {
  title: string;
  /** The ratio of the rates, and of the processor times (above 1: this row needs less). */
  ratio: number;
  cpuRatio?: number;
  /**
   * The ratio that counts: of rates, or of processor times where the goal is about them, and when the load generator
   * was the limit of one of the rows.
   */
  counts: number;
  goal?: number;
  /** The goal is a maximum. */
  isMost?: boolean;
  reached?: boolean;
}

/** A value measured once, with its maximum. */
export interface Figure {
  title: string;
  value: number;
  unit: string;
  most?: number;
}

/** A goal of the project, and the result. */
export interface Goal {
  title: string;
  aim: string;
  found: string;
  reached: boolean;
}

export interface Report {
  sections: { title: string; lines: Line[] }[];
  figures: Figure[];
  heavy?: HeavyLine[];
  zb: ZbRun[];
  goals: Goal[];
}

// From this share on, the load generator is the limit of a row, not the server.
const BUSY_SHARE = 0.95;

/** The share of a core that the server used, by its processor time for one of what the rate counts, or for the time. */
function shareOf(unit: string, cpuUs: number, rate: number): number {
  return unit === "ms" ? cpuUs / (rate * 1e3) : (cpuUs * rate) / 1e6;
}

export function summarize({ title, rows }: Measured): { title: string; lines: Line[] } {
  const bare = rows.map(({ row, samples }): Line & { wanted: typeof row.against } => {
    const good = samples.filter(({ failure }) => failure === undefined);
    const rates = good.map(({ rate }) => rate);
    const known = (of: (sample: Sample) => number | undefined): number[] => good.flatMap((sample) => of(sample) ?? []);
    const [cpu, shares] = [known(({ cpuUs }) => cpuUs), known(({ loadShare }) => loadShare)];
    const failure = samples.find((sample) => sample.failure !== undefined)?.failure;
    return {
      title: row.title,
      unit: row.unit,
      median: median(rates),
      lowest: Math.min(...rates),
      highest: Math.max(...rates),
      against: [],
      wanted: row.against,
      ...(cpu.length > 0 && { cpuUs: median(cpu), serverShare: shareOf(row.unit, median(cpu), median(rates)) }),
      ...(shares.length > 0 && { loadShare: Math.max(...shares) }),
      ...(row.least !== undefined && { least: row.least }),
      ...(row.most !== undefined && { most: row.most }),
      ...(failure !== undefined && { failure }),
    };
  });
  return {
    title,
    lines: bare.map(({ wanted = [], ...line }) => ({
      ...line,
      against: wanted.flatMap((against) => {
        const found = bare.find((one) => one.title === against.title);
        return found ? [compare(line, found, against)] : [];
      }),
    })),
  };
}

function compare(line: Line, other: Line, { goal, most, byCpu = false }: Against): Comparison {
  const ratio = line.median / other.median;
  const cpuRatio =
    line.cpuUs !== undefined && other.cpuUs !== undefined && line.cpuUs > 0 ? other.cpuUs / line.cpuUs : undefined;
  const isBounded = Math.max(line.loadShare ?? 0, other.loadShare ?? 0) > BUSY_SHARE;
  const counts = (isBounded || byCpu) && cpuRatio !== undefined ? cpuRatio : ratio;
  const works = line.failure === undefined && other.failure === undefined;
  return {
    title: other.title,
    ratio,
    counts,
    ...(cpuRatio !== undefined && { cpuRatio }),
    ...(goal !== undefined && { goal, reached: works && counts >= goal }),
    ...(most !== undefined && { goal: most, isMost: true, reached: works && counts <= most }),
  };
}

export function goalsOf(sections: Report["sections"], figures: Figure[]): Goal[] {
  const ofRows = sections
    .flatMap(({ lines }) => lines)
    .flatMap((line) =>
      line.against.flatMap((comparison): Goal[] => {
        const { goal, isMost = false, reached = false, counts, ratio, title } = comparison;
        if (goal === undefined) return [];
        const found =
          line.failure === undefined ? `${figure(counts)} ×${counts === ratio ? "" : " by processor time"}` : "failed";
        return [
          {
            title: `${line.title}, against ${title}`,
            aim: `at ${isMost ? "most" : "least"} ${Number(goal.toPrecision(3))} ×`,
            found,
            reached,
          },
        ];
      }),
    );
  const ofRates = sections
    .flatMap(({ lines }) => lines)
    .flatMap(({ title, unit, median: rate, least, most, failure }): Goal[] => {
      const found = failure === undefined ? `${figure(rate)} ${unit}` : "failed";
      const goal = (aim: string, reached: boolean): Goal => ({
        title,
        aim,
        found,
        reached: failure === undefined && reached,
      });
      return [
        ...(least === undefined ? [] : [goal(`at least ${figure(least)} ${unit}`, rate >= least)]),
        ...(most === undefined ? [] : [goal(`at most ${figure(most)} ${unit}`, rate <= most)]),
      ];
    });
  const ofFigures = figures.flatMap(({ title, value, unit, most }): Goal[] =>
    most === undefined
      ? []
      : [{ title, aim: `at most ${most} ${unit}`, found: `${figure(value)} ${unit}`, reached: value <= most }],
  );
  return [...ofRows, ...ofRates, ...ofFigures];
}

export function figure(value: number): string {
  if (!Number.isFinite(value)) return "";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

function percent(share: number | undefined): string {
  return share === undefined ? "" : `${Math.round(share * 100)}%`;
}

export function grid(heads: string[], cells: string[][], leftColumns: number[]): string {
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const isLeft = (column: number): boolean => leftColumns.includes(column);
  const padded = (cell: string, column: number): string =>
    isLeft(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const print = (row: string[]): string => `| ${row.map(padded).join(" | ")} |`;
  const rule = widths.map((width, column) => (isLeft(column) ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  return [print(heads), `|${rule.join("|")}|`, ...cells.map(print)].join("\n");
}

function linesTable(lines: Line[]): string {
  const cells = lines.flatMap((line) => {
    const own =
      line.failure !== undefined && !Number.isFinite(line.median)
        ? [line.title, "failed", "", "", "", ""]
        : [
            line.title,
            `${figure(line.median)} ${line.unit}${line.failure === undefined ? "" : ", failures"}`,
            `${figure(line.lowest)} to ${figure(line.highest)}`,
            line.cpuUs === undefined ? "" : figure(line.cpuUs),
            percent(line.serverShare),
            percent(line.loadShare),
          ];
    const first =
      line.against.length === 0
        ? [["", "", "", ""]]
        : line.against.map(({ title, ratio, cpuRatio, goal, reached = false }) => [
            title,
            figure(ratio),
            cpuRatio === undefined ? "" : figure(cpuRatio),
            goal === undefined ? "" : `${Number(goal.toPrecision(3))} ${reached ? "reached" : "missed"}`,
          ]);
    return first.map((comparison, index) => [...(index === 0 ? own : ["", "", "", "", "", ""]), ...comparison]);
  });
  return grid(
    [
      "row",
      "median",
      "lowest to highest",
      "server µs",
      "its core",
      "load's core",
      "held against",
      "× rate",
      "× µs",
      "goal",
    ],
    cells,
    [0, 6],
  );
}

/**
 * A line for each test, a column for each registry: images a second, and the median of the time. Below it why a run has
 * not all tests.
 */
function zbTable(runs: ZbRun[]): string {
  const names = [...new Set(runs.flatMap(({ tests }) => tests.map(({ name }) => name)))];
  const cells = names.map((name) => [
    name,
    ...runs.map(({ tests }) => {
      const test = tests.find((one) => one.name === name);
      return test === undefined
        ? "not run"
        : `${figure(test.perSecond)} /s, ${test.failed > 0 ? `${test.failed} failed` : test.p50}`;
    }),
  ]);
  const reasons = runs.flatMap(({ registry, aborted, failure }) => {
    const reason = aborted === undefined ? failure : `zb aborted: ${aborted}`;
    return reason === undefined ? [] : [`${registry}: ${reason}`];
  });
  return [grid(["test", ...runs.map(({ registry }) => registry)], cells, [0]), ...reasons].join("\n\n");
}

function heavyTable(lines: readonly HeavyLine[]): string {
  const head = ["input", "delay, idle", "one", "several", "memory, idle", "one", "several"];
  const share = (value: number, idle: number, unit: string): string =>
    `${figure(value)} ${unit} (${figure(value / idle)} ×)`;
  const cells = lines.map(({ title, idle, one, several }) => [
    title,
    `${figure(idle.delayMs)} ms`,
    share(one.delayMs, idle.delayMs, "ms"),
    share(several.delayMs, idle.delayMs, "ms"),
    `${figure(idle.peakMib)} MiB`,
    share(one.peakMib, idle.peakMib, "MiB"),
    share(several.peakMib, idle.peakMib, "MiB"),
  ]);
  return grid(head, cells, [0]);
}

/** The whole report as Markdown. */
export function markdown({ sections, figures, heavy = [], zb, goals }: Report): string {
  const parts = sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => `#### ${title}\n\n${linesTable(lines)}`);
  if (figures.length > 0) {
    const cells = figures.map(({ title, value, unit, most }) => [
      title,
      `${figure(value)} ${unit}`,
      most === undefined ? "" : `${most} ${unit}`,
    ]);
    parts.push(`#### start-up and memory\n\n${grid(["figure", "value", "at most"], cells, [0])}`);
  }
  if (heavy.length > 0) parts.push(`#### heavy inputs\n\n${heavyTable(heavy)}`);
  if (zb.length > 0) parts.push(`#### zot's zb\n\n${zbTable(zb)}`);
  if (goals.length > 0) {
    const cells = goals.map(({ title, aim, found, reached }) => [title, aim, found, reached ? "yes" : "no"]);
    parts.push(`#### goals\n\n${grid(["goal", "aim", "found", "reached"], cells, [0])}`);
  }
  return parts.join("\n\n");
}

export function machine(): Record<string, string | number> {
  const [first] = cpus();
  return {
    processor: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
  };
}
