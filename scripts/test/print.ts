import { join } from "node:path";
import type { Engine, Unit } from "./plan.ts";
import type { Outcome } from "./unit.ts";

/** A failed file on an engine. */
export interface Failure {
  /** The file alone. */
  unit: Unit;
  /** How many of its tests failed. */
  count: number;
  /** What failed: the test, and the first line of its error. */
  errors: string[];
}

/** Counts of a run so far, and what is repeated at its end. */
export interface Totals {
  passed: number;
  skipped: number;
  /** Processor time, in milliseconds, by the engine and the file. */
  cpuMs: Map<string, number>;
  /** By the engine and the file. */
  failures: Map<string, Failure>;
  /** Files that failed, and passed when they ran again. */
  unsteady: Map<string, Failure>;
  /** Why tests were skipped, and how many tests for each reason. */
  reasons: Map<string, number>;
}

export function newTotals(): Totals {
  return { passed: 0, skipped: 0, cpuMs: new Map(), failures: new Map(), unsteady: new Map(), reasons: new Map() };
}

/** How many tests failed. A process that did not run to its end is a failed test of each of its files. */
export function failedIn({ failures }: Totals): number {
  return [...failures.values()].reduce((sum, { count }) => sum + count, 0);
}

/** Prints a line for each file of the unit and every failure; with `verbose` each test, and its diagnostics. */
export function print(outcome: Outcome, root: string, verbose: boolean, totals: Totals): void {
  const { unit, lines, broken, output } = outcome;
  const found = byFile(unit, lines, root);
  const cpuMs = cpuMsOf(found, outcome.cpuMs);
  for (const [file, mine] of found) {
    const tests = mine.filter((line) => line.type !== "note" && line.type !== "suite");
    const bad = tests.filter(({ type }) => type === "fail");
    const skipped = tests.filter((line) => line.skipped !== undefined);
    totals.skipped += skipped.length;
    totals.passed += tests.length - bad.length - skipped.length;
    for (const { skipped: reason = "" } of skipped) totals.reasons.set(reason, (totals.reasons.get(reason) ?? 0) + 1);
    for (const { names, error = "" } of bad) fail(totals, unit, file, `${titleOf(names)}: ${firstLine(error)}`);
    const ms = mine.reduce((sum, line) => ("ms" in line && line.names.length <= 1 ? sum + line.ms : sum), 0);
    const left = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
    const mark = bad.length > 0 ? "✖" : "✔";
    const taken = cpuMs.get(file) ?? 0;
    totals.cpuMs.set(named(unit.engine, file), (totals.cpuMs.get(named(unit.engine, file)) ?? 0) + taken);
    const times = `${seconds(ms)} s, ${seconds(taken)} s of a processor`;
    console.log(`${mark} ${named(unit.engine, file)}: ${tests.length} tests${left}, ${times}`);
    for (const line of mine) {
      if (line.type === "note") {
        if (verbose || bad.length > 0) console.log(`    ℹ ${line.text}`);
      } else if (line.type === "fail") console.log(`  ✖ ${titleOf(line.names)}\n${indented(line.error ?? "")}`);
      else if (!verbose || line.type === "suite") continue;
      else if (line.skipped !== undefined) console.log(`  ﹣ ${line.names.join(" › ")} # ${line.skipped}`);
      else console.log(`  ✔ ${line.names.join(" › ")} (${Math.round(line.ms)} ms)`);
    }
  }
  if (broken !== undefined) {
    for (const file of unit.files) fail(totals, unit, file, broken);
    console.log(`✖ ${unit.engine}: ${broken} while it ran ${unit.files.join(" ")}`);
  }
  if ((broken !== undefined || lines.some(({ type }) => type === "fail")) && output !== "")
    console.log(`  what it printed:\n${indented(output)}`);
}

/**
 * The processor time of each file. Of files that share a process the first has what loading all of them took, and each
 * has what passed until the end of its last test.
 */
function cpuMsOf(found: Map<string, Outcome["lines"]>, wholeMs: number | undefined): Map<string, number> {
  const ends = [...found].map(([file, lines]) => ({
    file,
    ms: lines.findLast((line) => line.type !== "note")?.cpuMs,
  }));
  const last = ends.at(-1);
  if (last !== undefined && wholeMs !== undefined) last.ms = wholeMs;
  let before = 0;
  return new Map(
    ends.map(({ file, ms = before }) => {
      const taken = ms - before;
      before = ms;
      return [file, taken];
    }),
  );
}

/** Prints the files that took most of the processors, the most first. */
export function printCpu({ cpuMs }: Totals, count: number): void {
  const ranked = [...cpuMs].sort(([, one], [, other]) => other - one).slice(0, count);
  console.log("\nprocessor time, in seconds:");
  for (const [file, ms] of ranked) console.log(`${seconds(ms).padStart(8)}  ${file}`);
}

/** The tests that failed, and passed when their files ran again alone: a file and its errors below each other. */
export function defectsIn({ unsteady }: Totals): string {
  return [...unsteady].map(([file, { errors }]) => [file, ...errors].join("\n  ")).join("\n");
}

/** Prints why tests were skipped, the failed files, and the counts: in the form of Node's runner, and on one line. */
export function printTotals(totals: Totals, ms: number): void {
  const { passed, skipped, failures, unsteady, reasons } = totals;
  const failed = failedIn(totals);
  if (reasons.size > 0) console.log("\nskipped:");
  for (const [reason, count] of reasons) console.log(`  ${count} × ${reason}`);
  if (unsteady.size > 0)
    console.log(`\nDEFECTS TO MEND: failed, and passed when run again alone\n${indented(defectsIn(totals))}`);
  if (failures.size > 0) console.log("\nfailed:");
  for (const [file, { errors }] of failures) console.log([`  ✖ ${file}`, ...errors].join("\n    "));
  console.log(`\nℹ tests ${passed + failed + skipped}\nℹ pass ${passed}\nℹ fail ${failed}\nℹ skipped ${skipped}`);
  console.log(`ℹ duration_ms ${Math.round(ms)}`);
  console.log(`ℹ processor_ms ${[...totals.cpuMs.values()].reduce((sum, each) => sum + each, 0)}`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
}

function titleOf(names: readonly string[]): string {
  return names.length === 0 ? "the file as a whole" : names.join(" › ");
}

/** The lines of each file. A test in a support module belongs to the file that ran before it. */
function byFile({ files }: Outcome["unit"], lines: Outcome["lines"], root: string): Map<string, Outcome["lines"]> {
  const found = new Map<string, Outcome["lines"]>(files.map((file) => [file, []]));
  let [current = ""] = files;
  for (const line of lines) {
    current = files.find((file) => join(root, file) === line.file) ?? current;
    found.get(current)?.push(line);
  }
  return found;
}

function fail({ failures }: Totals, { engine }: Unit, file: string, error: string): void {
  const { count, errors } = failures.get(named(engine, file)) ?? { count: 0, errors: [] };
  failures.set(named(engine, file), { unit: { engine, files: [file] }, count: count + 1, errors: [...errors, error] });
}

function named(engine: Engine, file: string): string {
  return `${engine === "postgres" ? "PostgreSQL" : "SQLite"} ${file}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
