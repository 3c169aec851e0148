import { join } from "node:path";
import type { Engine } from "./plan.ts";
import type { Outcome } from "./unit.ts";

/** Counts of a run so far, and what is repeated at its end. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  /** The failed files, each with its engine, and what failed in each: the test, and the first line of its error. */
  failures: Map<string, string[]>;
  /** Why tests were skipped, and how many tests for each reason. */
  reasons: Map<string, number>;
}

export function newTotals(): Totals {
  return { passed: 0, failed: 0, skipped: 0, failures: new Map(), reasons: new Map() };
}

/** Prints a line for each file of the unit and every failure; with `verbose` each test, and its diagnostics. */
export function print({ unit, lines, broken, output }: Outcome, root: string, verbose: boolean, totals: Totals): void {
  for (const [file, mine] of byFile(unit, lines, root)) {
    const tests = mine.filter((line) => line.type !== "note" && line.type !== "suite");
    const bad = tests.filter(({ type }) => type === "fail");
    const skipped = tests.filter((line) => line.skipped !== undefined);
    totals.failed += bad.length;
    totals.skipped += skipped.length;
    totals.passed += tests.length - bad.length - skipped.length;
    for (const { skipped: reason = "" } of skipped) totals.reasons.set(reason, (totals.reasons.get(reason) ?? 0) + 1);
    const reasons = bad.map(({ names, error = "" }) => `${names.join(" › ")}: ${firstLine(error)}`);
    if (bad.length > 0) totals.failures.set(named(unit.engine, file), reasons);
    const ms = mine.reduce((sum, line) => ("ms" in line && line.names.length === 1 ? sum + line.ms : sum), 0);
    const left = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
    const mark = bad.length > 0 ? "✖" : "✔";
    console.log(`${mark} ${named(unit.engine, file)}: ${tests.length} tests${left}, ${(ms / 1000).toFixed(1)} s`);
    for (const line of mine) {
      if (line.type === "note") {
        if (verbose || bad.length > 0) console.log(`    ℹ ${line.text}`);
      } else if (line.type === "fail") console.log(`  ✖ ${line.names.join(" › ")}\n${indented(line.error ?? "")}`);
      else if (!verbose || line.type === "suite") continue;
      else if (line.skipped !== undefined) console.log(`  ﹣ ${line.names.join(" › ")} # ${line.skipped}`);
      else console.log(`  ✔ ${line.names.join(" › ")} (${Math.round(line.ms)} ms)`);
    }
  }
  if (broken !== undefined) {
    totals.failed += 1;
    for (const file of unit.files) {
      const key = named(unit.engine, file);
      totals.failures.set(key, [...(totals.failures.get(key) ?? []), broken]);
    }
    console.log(`✖ ${unit.engine}: ${broken} while it ran ${unit.files.join(" ")}`);
  }
  if ((broken !== undefined || lines.some(({ type }) => type === "fail")) && output !== "")
    console.log(`  what it printed:\n${indented(output)}`);
}

/** Prints why tests were skipped, the failed files, and the counts: in the form of Node's runner, and on one line. */
export function printTotals({ passed, failed, skipped, failures, reasons }: Totals, ms: number): void {
  if (reasons.size > 0) console.log("\nskipped:");
  for (const [reason, count] of reasons) console.log(`  ${count} × ${reason}`);
  if (failures.size > 0) console.log("\nfailed:");
  for (const [file, errors] of failures) console.log([`  ✖ ${file}`, ...errors].join("\n    "));
  console.log(`\nℹ tests ${passed + failed + skipped}\nℹ pass ${passed}\nℹ fail ${failed}\nℹ skipped ${skipped}`);
  console.log(`ℹ duration_ms ${Math.round(ms)}`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
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

function named(engine: Engine, file: string): string {
  return `${engine === "postgres" ? "PostgreSQL" : "SQLite"} ${file}`;
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
