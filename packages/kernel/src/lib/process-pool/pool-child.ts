import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { programFile } from "../program-file.ts";
import type { FromChild, ToChild } from "./messages.ts";
import { OUT_OF_MEMORY } from "./messages.ts";
import { TaskError } from "./task-error.ts";

export interface ChildOptions {
  module: URL;
  maxHeapMiB: number;
  maxRssMiB: number;
  niceness: number;
  environment: readonly string[];
  data: unknown;
}

/** A child process that does one task at a time. */
export interface PoolChild {
  /** Resolves when it takes tasks. Rejects with a TaskError when it ended before. */
  readonly ready: Promise<void>;
  /** Whether it may still be given a task. */
  isAlive(): boolean;
  /** Resolves when the process is gone, or a second after it should be; with why when nobody had ended it. */
  readonly ended: Promise<TaskError | undefined>;
  /** Runs a task. Rejects with a TaskError when the task throws or the process ends. */
  run(task: string, input: unknown): Promise<unknown>;
  /** Ends it by SIGKILL. Who waits for it gets the error in the same moment. */
  kill(error: TaskError): void;
}

/** How long a process may take to disappear after SIGKILL. */
const MAX_DYING_MS = 1_000;
/** How long what it wrote last is waited for. */
const MAX_OUTPUT_WAIT_MS = 100;
/** Of what it writes, the end is kept, in characters: why it died. */
const MAX_OUTPUT = 16_384;
/**
 * Libraries and time of the machine, and the bundle that this process runs from; everything else of the environment
 * stays with the server.
 */
const ENVIRONMENT = [
  "LD_LIBRARY_PATH",
  "LD_PRELOAD",
  "DYLD_LIBRARY_PATH",
  "MALLOC_ARENA_MAX",
  "TZ",
  "NODE_ICU_DATA",
  "MOORAGE_BUNDLE",
];

/** Starts a child process of a pool. It does not keep this process alive. */
export function startChild(options: ChildOptions): PoolChild {
  try {
    return watched(forked(options), options.data);
  } catch (error) {
    return neverStarted(new TaskError("died", `the process could not be started: ${(error as Error).message}`));
  }
}

function forked({ module, maxHeapMiB, maxRssMiB, niceness, environment }: ChildOptions): ChildProcess {
  const started = fork(
    programFile("entry", import.meta.url),
    [module.href, String(process.pid), String(maxRssMiB), String(niceness)],
    {
      serialization: "advanced",
      execArgv: [`--max-old-space-size=${maxHeapMiB}`],
      env: picked([...ENVIRONMENT, ...environment]),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    },
  );
  started.unref();
  started.channel?.unref();
  if (started.stderr instanceof Socket) started.stderr.unref();
  return started;
}

function neverStarted(reason: TaskError): PoolChild {
  const ready = Promise.reject(reason);
  ready.catch(() => {});
  const run = async (): Promise<never> => await ready;
  return { ready, ended: Promise.resolve(reason), isAlive: () => false, run, kill: () => {} };
}

function watched(child: ChildProcess, data: unknown): PoolChild {
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-MAX_OUTPUT)));
  child.stderr?.on("error", () => {});

  let nextId = 0;
  let current: { id: number; resolve(output: unknown): void; reject(error: TaskError): void } | undefined;
  let over: TaskError | undefined;
  let isGone = false;
  let dying: NodeJS.Timeout | undefined;
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<TaskError | undefined>();
  // Whoever runs a task hears of it; nobody needs to.
  ready.promise.catch(() => {});

  /** Nothing is expected of it any longer. */
  const finish = (error: TaskError): void => {
    over ??= error;
    ready.reject(over);
    current?.reject(over);
    current = undefined;
  };
  const kill = (error: TaskError): void => {
    if (over !== undefined) return;
    finish(error);
    child.kill("SIGKILL");
    clearTimeout(dying);
    if (!isGone) dying = setTimeout(() => ended.resolve(undefined), MAX_DYING_MS);
  };
  const gone = async (code: number | null, signal: string | null): Promise<void> => {
    isGone = true;
    clearTimeout(dying);
    if (over === undefined) await Promise.race([once(child, "close"), sleep(MAX_OUTPUT_WAIT_MS)]);
    if (over !== undefined) return ended.resolve(undefined);
    const error = reasonOf(code, signal, output);
    finish(error);
    ended.resolve(error);
  };
  const take = (message: FromChild): void => {
    if ("ready" in message) return ready.resolve();
    if (current?.id !== message.id) return;
    const { resolve, reject } = current;
    current = undefined;
    if ("output" in message) resolve(message.output);
    else reject(new TaskError("failed", message.message, { isFinal: message.isFinal }));
  };
  child.on("message", take);
  child.once("exit", (code, signal) => void gone(code, signal));
  // It could not be started, or not be sent to.
  child.on("error", (error) => {
    if (child.pid !== undefined) return void child.kill("SIGKILL");
    const died = new TaskError("died", `the process could not be started: ${error.message}`);
    finish(died);
    ended.resolve(died);
  });
  // It exits, or has closed its channel by itself and is of no use.
  child.once("disconnect", () => {
    if (!isGone) dying ??= setTimeout(() => child.kill("SIGKILL"), MAX_DYING_MS);
  });

  const send = (message: ToChild): void => void child.send(message, () => {});
  if (child.connected) send({ data });
  return {
    ready: ready.promise,
    ended: ended.promise,
    isAlive: () => over === undefined && !isGone && child.connected,
    kill,
    async run(task, input) {
      if (over !== undefined) throw over;
      const id = nextId++;
      const answer = Promise.withResolvers<unknown>();
      current = { id, resolve: answer.resolve, reject: answer.reject };
      try {
        send({ id, task, input });
      } catch (error) {
        current = undefined;
        throw new TaskError("failed", `the input cannot be sent: ${(error as Error).message}`, { isFinal: true });
      }
      return await answer.promise;
    },
  };
}

function picked(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}

function reasonOf(code: number | null, signal: string | null, output: string): TaskError {
  if (output.includes(OUT_OF_MEMORY) || output.includes("heap out of memory"))
    return new TaskError("memory", "it needed more memory than it may have");
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  const last = output.trim().split("\n").slice(0, 8).join(" ").slice(0, 300);
  return new TaskError("died", `the process ${how}${last === "" ? "" : `: ${last}`}`);
}
