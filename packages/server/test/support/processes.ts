import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestContext } from "node:test";
import { undeclaredIn } from "./declarations/log-lines.ts";
import { UNLIMITED } from "./no-rate-limits.ts";
import { inheritedEnv } from "./environment.ts";

/** A line of the server's log. */
export interface LogLine {
  level: number;
  pid: number;
  msg: string;
  worker?: number;
  port?: number;
  [field: string]: unknown;
}

/** A server that runs in processes of its own. */
export interface ServerProcess {
  url: string;
  /** The port it listens on, whatever its URL says. */
  port: number;
  pid: number;
  /** The lines it logged so far, its workers' included. */
  lines: LogLine[];
  errors: string[];
  /** Sends the signal and waits for the exit. Returns the exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  /** Resolves when it has exited, for any reason. */
  exited: Promise<number | string>;
}

const SOURCE = fileURLToPath(new URL("./server-process.ts", import.meta.url));
const BUNDLE = process.env.MOORAGE_BUNDLE ?? "0";
// `npm test` has it in the bundle of these sources (scripts/bundle/programs.ts), from which it starts with some half of
// the processor time.
const PROGRAM = BUNDLE === "0" || BUNDLE === "" ? SOURCE : join(BUNDLE, "test", "server-process.js");

/**
 * Starts it with the settings and no other variables of Moorage. `shell`: a command of sh that runs before, such as
 * `ulimit -n 100`. `program`: that of another version. Resolves when it listens. Rejects with its output when it exits
 * before.
 */
export async function startProcess(
  t: TestContext,
  env: Record<string, string>,
  shell?: string,
  program = PROGRAM,
): Promise<ServerProcess> {
  const [command, args] =
    shell === undefined
      ? [process.execPath, [program]]
      : ["/bin/sh", ["-c", `${shell} && exec "$0" "$1"`, process.execPath, program]];
  const child = spawn(command, args, {
    env: { ...inheritedEnv({ isBundled: program === PROGRAM }), MOORAGE_PORT: "0", ...UNLIMITED, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
    // Programs that are not this one may do so on purpose.
    if (program === PROGRAM) assert.deepEqual(undeclaredIn(lines), []);
  });
  const lines: LogLine[] = [];
  const errors: string[] = [];
  const { promise: answering, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stderr }).on("line", (line) => void errors.push(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line) as LogLine);
    else if (line.startsWith("http")) resolve(line);
  });
  void exited.then((status) => reject(new Error(`the server ended with ${status}: ${errors.join("\n")}`)));
  const [url = "", port] = (await answering).split(" ");
  return {
    url,
    port: Number(port),
    pid: child.pid ?? 0,
    lines,
    errors,
    exited,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return await exited;
    },
  };
}
