import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createServer } from "node:net";
import { once } from "node:events";

/** Servers run on the first core, whatever makes load on the second. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Whether processes can be kept to a core of their own: taskset is there, and there are two cores. */
export const pinned = availableParallelism() > 1 && spawnSync("taskset", ["--version"]).status === 0;

const STOP_TIMEOUT_MS = 10_000;
// Linux counts a process's time in ticks of 10 ms.
const TICK_US = 10_000;

/** Starts a program on the core. Its standard output is the caller's to read when `output` is "pipe". */
export function start(core: number, command: string, args: string[], options: { env?: Record<string, string>; output?: "pipe" | "ignore" } = {}): ChildProcess {
  const [file, all] = pinned ? ["taskset", ["-c", String(core), command, ...args]] : [command, args];
  const output = options.output ?? "ignore";
  return spawn(file, all, { stdio: ["pipe", output, "inherit"], env: { ...process.env, ...options.env } });
}

/** Runs a script of ours on the core, gives it the input as JSON on standard input, and reads its answer as JSON from standard output. */
export async function ask<T>(core: number, script: string, input: unknown, timeoutMs: number): Promise<T> {
  const child = start(core, process.execPath, [new URL(script, import.meta.url).pathname], { output: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => { text += chunk; });
  child.stdin?.end(JSON.stringify(input));
  const [code] = await once(child, "close") as [number | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script} ended with ${code ?? "a signal"}`);
  return JSON.parse(text) as T;
}

/** Ends a process: politely, then not. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** The processor time that a process has used so far, in microseconds, all its threads together; undefined where /proc does not tell. */
export function cpuUs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process in MiB; undefined where /proc does not tell. */
export function residentMib(pid: number | undefined): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return found?.[1] === undefined ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** A port that nobody uses now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Waits until the URL answers with any status, at most `timeoutMs`. */
export async function untilAnswers(url: string, child: ChildProcess, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then((response) => response.body?.cancel().then(() => true) ?? true, () => false);
    if (answered) return;
    if (child.exitCode !== null) throw new Error(`the server for ${url} ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`${url} did not answer in time`);
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
}
