import { cpus, release, totalmem } from "node:os";
import { HELLO, type Row, type Sample } from "./rows.ts";

/** What is known of a row after all rounds. */
export interface Line {
  key: string;
  title: string;
  unit: string;
  median: number;
  lowest: number;
  highest: number;
  /** Of the hello limit, for rows counted in requests. */
  ofHello?: number;
  /** The server's processor time per request, in microseconds: its median. */
  cpuUs?: number;
  /** The busiest the load's core was, from 0 to 1. */
  loadShare?: number;
  against?: { title: string; ratio: number; goal: number; reached: boolean };
  failure?: string;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export function summarize(rows: Row[], samples: Map<string, Sample[]>): Line[] {
  const rates = (title: string): number[] => (samples.get(title) ?? []).map(({ rate }) => rate);
  const hello = median(rates(HELLO));
  return rows.map((row) => {
    const own = samples.get(row.title) ?? [];
    const line: Line = { key: row.key, title: row.title, unit: row.unit, median: median(rates(row.title)), lowest: Math.min(...rates(row.title)), highest: Math.max(...rates(row.title)) };
    const cpu = own.flatMap(({ cpuUs }) => cpuUs ?? []);
    if (cpu.length > 0) line.cpuUs = median(cpu);
    if (cpu.length > 0 && hello > 0) line.ofHello = line.median / hello;
    const shares = own.flatMap(({ loadShare }) => loadShare ?? []);
    if (shares.length > 0) line.loadShare = Math.max(...shares);
    const failed = own.find(({ failure }) => failure !== undefined)?.failure;
    if (failed !== undefined) line.failure = failed;
    if (row.against) {
      const ratio = line.median / median(rates(row.against.title));
      line.against = { ...row.against, ratio, reached: failed === undefined && ratio >= row.against.goal };
    }
    return line;
  });
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** The table as Markdown. */
export function table(lines: Line[]): string {
  const heads = ["row", "median", "lowest to highest", "× hello", "server µs", "load's core", "held against", "×", "goal"];
  const cells = lines.map((line) => [
    line.title, `${figure(line.median)} ${line.unit}`, `${figure(line.lowest)} to ${figure(line.highest)}`, line.ofHello === undefined ? "" : line.ofHello.toFixed(2),
    line.cpuUs === undefined ? "" : figure(line.cpuUs), line.loadShare === undefined ? "" : `${Math.round(line.loadShare * 100)}%`,
    line.against?.title ?? "", line.against ? figure(line.against.ratio) : "", line.against ? `${line.against.goal} ${line.against.reached ? "reached" : "missed"}` : "",
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const print = (row: string[]): string => `| ${row.map((cell, column) => (column === 0 || column === 6 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  return [print(heads), `|${widths.map((width, column) => (column === 0 || column === 6 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`, ...cells.map(print)].join("\n");
}

export function machine(): Record<string, string | number> {
  return { processor: cpus()[0]?.model ?? "unknown", cores: cpus().length, memoryGib: Math.round(totalmem() / 2 ** 30), kernel: release(), node: process.versions.node };
}
