import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Unit } from "./plan.ts";
import type { Line } from "./reporter.ts";

const SEVERAL = fileURLToPath(new URL("./files.ts", import.meta.url));
const REPORTER = new URL("./reporter.ts", import.meta.url).href;
const OUTPUT_KEPT = 20_000;
/** The result of a unit. */
export interface Outcome {
  unit: Unit;
  lines: Exclude<Line, { type: "end" | "exit" }>[];
  /** The processor time of the process and the ended ones that it started; undefined when it was killed. */
  cpuMs: number | undefined;
  /** Why the process did not run to its end. Undefined when it did, with or without failures. */
  broken: string | undefined;
  /** The end of the process's output, without its reports. */
  output: string;
  ms: number;
}

/** Runs the unit in its own process, with Node's options added. The signal ends it, and so does the limit. */
export async function runUnit(
  unit: Unit,
  options: readonly string[],
  { cwd, env, signal, limitMs }: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; limitMs: number },
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-report-"));
  const report = join(folder, "lines");
  const startMs = performance.now();
  try {
    const several = unit.files.length > 1 ? [SEVERAL] : [];
    const reporting = [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${report}`];
    const child = spawn(process.execPath, [...reporting, ...options, ...several, ...unit.files], {
      cwd,
      env,
      // A group of its own, so that what the tests started ends with them.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-OUTPUT_KEPT)));
    const end = (killedBy: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, killedBy);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    };
    const onAbort = (): void => end("SIGTERM");
    signal.addEventListener("abort", onAbort);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end("SIGKILL");
    }, limitMs);
    const status = await new Promise<number | string>((resolve) =>
      child.once("close", (code, killedBy) => resolve(code ?? killedBy ?? "")),
    );
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
    const all = linesIn(report);
    const lines = all.filter((line) => line.type !== "end" && line.type !== "exit");
    const failed = lines.some(({ type }) => type === "fail");
    const broken = late
      ? `the process, or one that its tests started, did not end within ${limitMs / 1000} s`
      : all.some(({ type }) => type === "end") && (status === 0 || failed)
        ? undefined
        : `the process ended with ${status}`;
    const cpuMs = all.findLast((line) => line.type === "exit")?.cpuMs;
    return { unit, lines, cpuMs, broken, output, ms: performance.now() - startMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function linesIn(report: string): Line[] {
  let text: string;
  try {
    text = readFileSync(report, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as Line);
}
