// A reporter for Node's test runner, read by the run that started this process: a line of JSON for each ended test.
import { inspect } from "node:util";
import type { TestEvent } from "node:test/reporters";

/** The counts that the runner reports at the end of each process; the run adds them up. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** One test, or a diagnostic of a file. `file` is the absolute path of the source. */
export type Line =
  | { type: "pass" | "fail"; file: string; names: string[]; ms: number; error?: string; skipped?: string }
  | { type: "suite"; file: string; names: string[]; ms: number }
  | { type: "note"; file: string; text: string }
  | { type: "end" };

// oxlint-disable-next-line import/no-default-export -- the runner requires a default export
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  for await (const event of source) {
    if (event.type === "test:start") names[event.data.nesting] = event.data.name;
    const line = lineOf(event, names);
    if (line !== undefined) yield `${JSON.stringify(line)}\n`;
  }
}

function lineOf({ type, data }: TestEvent, open: readonly string[]): Line | undefined {
  if (type === "test:pass" || type === "test:fail") {
    const { details, file = "", name, nesting, skip } = data;
    const error = "error" in details ? (details.error as Error & { failureType?: string }) : undefined;
    const names = [...open.slice(0, nesting), name];
    const ms = details.duration_ms;
    // A suite fails by itself only when its hooks do.
    if (details.type === "suite" && (error === undefined || error.failureType === "subtestsFailed"))
      return { type: "suite", file, names, ms };
    return {
      type: error === undefined ? "pass" : "fail",
      file,
      names,
      ms,
      ...(error !== undefined && { error: inspect(error.cause ?? error) }),
      ...(skip !== undefined && skip !== false && { skipped: skip === true ? "no reason is given" : skip }),
    };
  }
  if (type === "test:diagnostic" && data.file !== undefined && !COUNT.test(data.message))
    return { type: "note", file: data.file, text: data.message };
  return type === "test:summary" ? { type: "end" } : undefined;
}
