import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

/** Servers run on the first core, load generators on the second. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Where a program runs: one core, or several. */
export type Cores = number | readonly number[];

/** Whether processes can be bound to a core: taskset is installed, and there are two cores. */
export const pinned = availableParallelism() > 1 && spawnSync("taskset", ["--version"]).status === 0;

/** A process that is measured. */
export interface Server {
  name: string;
  port: number;
  process: ChildProcess;
  /** Processor time used so far, in microseconds, of all its threads and helper processes. Undefined without /proc. */
  cpuUs(): number | undefined;
}

const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 5;
// Linux counts the time of a process in ticks of 10 ms.
const TICK_US = 10_000;

const running = new Set<ChildProcess>();

/** Starts a program on the cores, without the Moorage settings of the environment. */
export function start(
  cores: Cores,
  command: string,
  args: string[],
  options: { env?: Record<string, string>; output?: "pipe" | "ignore" } = {},
): ChildProcess {
  const [file, all] = pinned ? ["taskset", ["-c", String(cores), command, ...args]] : [command, args];
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MOORAGE_")));
  const child = spawn(file, all, {
    stdio: ["pipe", options.output ?? "ignore", "inherit"],
    env: { ...inherited, ...options.env },
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Stops all processes started here that are still running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

/** Binds a running process, and the children it will start, to the core. */
export function pin(core: number, pid: number): void {
  if (pinned) spawnSync("taskset", ["-acp", String(core), String(pid)], { stdio: "ignore", timeout: 10_000 });
}

/**
 * Runs a script of the benchmark on the core, sends the input as JSON on standard input, and returns the JSON of its
 * standard output.
 */
export async function ask<T>(core: number, script: string, input: unknown, timeoutMs: number): Promise<T> {
  const child = start(core, process.execPath, [new URL(script, import.meta.url).pathname], { output: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  child.stdin?.on("error", () => {}).end(JSON.stringify(input));
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script} ended with ${code ?? "a signal"}`);
  return JSON.parse(text) as T;
}

/** The main function of a script that `ask` runs: reads the input, and prints the result of `work`. */
export async function answer<I>(work: (input: I) => object | Promise<object>): Promise<void> {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  process.stdout.write(JSON.stringify(await work(JSON.parse(text) as I)));
}

/** Stops a process: with SIGTERM, then with SIGKILL. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Processor time that a process has used so far, in microseconds, of all its threads. Undefined without /proc. */
export function cpuUsOf(pid: number | undefined): number | undefined {
  try {
    const fields = statFields(pid ?? 0);
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return undefined;
  }
}

/** The same for a process and the processes it started, ended ones included. */
export function familyCpuUs(pid: number): number | undefined {
  try {
    const fields = statFields(pid);
    const own = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * TICK_US;
    return childrenOf(pid).reduce((sum, child) => sum + (cpuUsOf(child) ?? 0), own);
  } catch {
    return undefined;
  }
}

/** The processes that a process started and that still run. Throws without /proc. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
}

export function parentOf(pid: number): number {
  return Number(statFields(pid)[1]);
}

function memoryMib(pid: number | undefined, field: "VmRSS" | "VmHWM" | "RssFile"): number | undefined {
  try {
    const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return found?.[1] === undefined ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process in MiB. Undefined without /proc. */
export function residentMib(pid: number | undefined): number | undefined {
  return memoryMib(pid, "VmRSS");
}

/** The part of it that is mapped files, which the system can reclaim. */
export function mappedMib(pid: number | undefined): number | undefined {
  return memoryMib(pid, "RssFile");
}

/** The maximum of resident memory since the last call of `forgetPeak`, in MiB. */
export function peakMib(pid: number | undefined): number | undefined {
  return memoryMib(pid, "VmHWM");
}

export function forgetPeak(pid: number | undefined): void {
  // Source: proc(5), clear_refs.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Waits until the probe returns true, for at most `timeoutMs`, while the process runs. */
export async function until(probe: () => Promise<boolean>, child: ChildProcess, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await probe())) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error("the server did not answer in time");
    await wait(POLL_MS);
  }
}

/** Waits until the URL answers with 2xx, for at most `timeoutMs`. */
export function untilAnswers(url: string, child: ChildProcess, timeoutMs: number): Promise<void> {
  return until(
    async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok === true;
    },
    child,
    timeoutMs,
  );
}
