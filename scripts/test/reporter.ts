// A reporter for Node's test runner, read by the run that started this process: a line of JSON for each ended test.
import { appendFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import type { TestEvent } from "node:test/reporters";

/** The counts that the runner reports at the end of each process; the run adds them up. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/**
 * One test, or a diagnostic of a file. `file` is the absolute path of the source, `cpuMs` the processor time that the
 * process and the ended ones that it started have taken until then.
 */
export type Line =
  | {
      type: "pass" | "fail";
      file: string;
      names: string[];
      ms: number;
      cpuMs: number;
      error?: string;
      skipped?: string;
    }
  | { type: "suite"; file: string; names: string[]; ms: number; cpuMs: number }
  | { type: "note"; file: string; text: string }
  | { type: "end" }
  | { type: "exit"; cpuMs: number };

// oxlint-disable-next-line import/no-default-export -- the runner requires a default export
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  const report = destination();
  if (report !== undefined)
    process.once("exit", () => appendFileSync(report, `${JSON.stringify({ type: "exit", cpuMs: cpuMs() })}\n`));
  for await (const event of source) {
    if (event.type === "test:start") names[event.data.nesting] = event.data.name;
    const line = lineOf(event, names);
    if (line !== undefined) yield `${JSON.stringify(line)}\n`;
  }
}

/** The file that this reporter's lines go to. */
function destination(): string | undefined {
  const option = process.execArgv.find((each) => each.startsWith("--test-reporter-destination="));
  return option?.slice(option.indexOf("=") + 1);
}

/** Clock ticks of Linux in a second, as programs see them: the same on all machines. */
const TICKS = 100;

/**
 * The processor time of this process, its threads included, and of the ended processes that it started and those
 * started. What Node has of ended processes is in `/proc`; elsewhere they are left out.
 */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000) + childrenMs();
}

function childrenMs(): number {
  if (process.platform !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The name of the program, in parentheses, can hold blanks. Children's times are fields 16 and 17.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
}

/** Whether this process runs several files, each of them as a test (files.ts). */
const IS_SHARED = (process.argv[1] ?? "").endsWith(join("scripts", "test", "files.ts"));

function lineOf({ type, data }: TestEvent, open: readonly string[]): Line | undefined {
  const [whole = ""] = open;
  const fileOf = (file = ""): string => (IS_SHARED ? resolve(whole) : file);
  if (type === "test:pass" || type === "test:fail") {
    const { details, name, nesting, skip } = data;
    const file = fileOf(data.file);
    const error = "error" in details ? (details.error as Error & { failureType?: string }) : undefined;
    const names = [...open.slice(0, nesting), name].slice(IS_SHARED ? 1 : 0);
    // The end of a file that has no fault of its own, such as a hook's.
    if (names.length === 0 && (error === undefined || error.failureType === "subtestsFailed"))
      return { type: "suite", file, names, ms: 0, cpuMs: cpuMs() };
    const ms = details.duration_ms;
    // A suite fails by itself only when its hooks do.
    if (details.type === "suite" && (error === undefined || error.failureType === "subtestsFailed"))
      return { type: "suite", file, names, ms, cpuMs: cpuMs() };
    return {
      type: error === undefined ? "pass" : "fail",
      file,
      names,
      ms,
      cpuMs: cpuMs(),
      ...(error !== undefined && { error: inspect(error.cause ?? error) }),
      ...(skip !== undefined && skip !== false && { skipped: skip === true ? "no reason is given" : skip }),
    };
  }
  if (type === "test:diagnostic" && data.file !== undefined && !COUNT.test(data.message))
    return { type: "note", file: fileOf(data.file), text: data.message };
  return type === "test:summary" ? { type: "end" } : undefined;
}
