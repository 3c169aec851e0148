import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestContext } from "node:test";
import { UNLIMITED } from "./no-rate-limits.ts";

/** A line of the server's log. */
export interface LogLine {
  level: number;
  pid: number;
  msg: string;
  worker?: number;
  port?: number;
  [field: string]: unknown;
}

/** A server that runs in a process of its own. */
export interface ServerProcess {
  url: string;
  /** Where it listens, whatever its URL says. */
  port: number;
  pid: number;
  /** What it logged so far, its workers included. */
  lines: LogLine[];
  errors: string[];
  /** Sends the signal and waits for the end; answers the exit code, or the signal it died of. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  /** Resolves when it has ended, by whatever cause. */
  exited: Promise<number | string>;
}

const PROGRAM = fileURLToPath(new URL("./server-process.ts", import.meta.url));

/**
 * Starts it with the settings and nothing else of Moorage's from the environment. Resolves when it answers. Rejects
 * with what it said when it ends before.
 */
export async function startProcess(t: TestContext, env: Record<string, string>): Promise<ServerProcess> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("MOORAGE_") && !name.startsWith("NODE_TEST")),
  );
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...inherited, MOORAGE_PORT: "0", ...UNLIMITED, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
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
