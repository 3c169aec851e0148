import { Code, fromPlain, MoorageError, type PlainError } from "@moorage/kernel/errors";
import { createByteBudget, type HeldBytes } from "@moorage/kernel/lib/byte-budget";
import { processPool, TaskError } from "@moorage/kernel/lib/process-pool";
import {
  INLINE_BYTES,
  LARGE_BYTES_UNDER_WAY,
  MAX_WAITING,
  MAX_WAITING_OF_ONE,
  TASK_TIMEOUT_MS,
  WAIT_MS,
} from "./limits.ts";
import { createHandOver, type HandedOver } from "./hand-over.ts";
import { ReadingError } from "./reading-error.ts";
import type { Task } from "./task.ts";

/** Reads texts of others: small ones here, large ones in child processes. */
export interface Reading {
  /**
   * Runs a task about so many bytes: in this thread when they are few, else in a child process. `input` may be a
   * function, which is called when a child is free. Throws what the task throws (of a child: MoorageErrors as they
   * are, of other errors the message), a ReadingError, and UNAVAILABLE when too much is under way.
   */
  run<Input extends object, Output>(
    task: Task<Input, Output>,
    input: Input | (() => Promise<Input>),
    bytes: number,
  ): Promise<Output>;
  /**
   * Takes bytes for a large document in memory, on behalf of a group. Throws UNAVAILABLE when too many are under way.
   */
  take(owner: string, bytes: number): Promise<HeldBytes>;
  /** Bytes for the input of a task, to be released after it. */
  handOver(pieces: readonly Uint8Array[]): Promise<HandedOver>;
  /** Ends the children. */
  close(): Promise<void>;
}

/** What a child answers: what the task returned, or the error of a protocol that it threw. */
export type TaskAnswer = { value: unknown } | { error: PlainError };

/** What a child is asked: a task by its name. */
export interface NamedTask {
  task: string;
  input: unknown;
}

/** Two, so that a large document of one organization does not hold up those of others. */
const CHILDREN = 2;
const MAX_HEAP_MIB = 768;
/** Whoever installs asks for many packages within minutes. */
const IDLE_MS = 5 * 60_000;

/** What the reading of documents needs. */
export interface ReadingOptions {
  /** The program of a child: it answers the task `run`, whose input is a NamedTask, with a TaskAnswer. */
  child: URL;
  /** What a child begins with. */
  data: unknown;
  log: { warn(fields: object, message: string): void };
}

export function openPool({ child, data, log }: ReadingOptions): Reading {
  const pool = processPool({
    module: child,
    data,
    size: CHILDREN,
    maxHeapMiB: MAX_HEAP_MIB,
    idleMs: IDLE_MS,
    maxWaiting: MAX_WAITING,
    maxWaitingBytes: LARGE_BYTES_UNDER_WAY,
    onDeath: (reason) => log.warn({ reason }, "a process that reads documents of libraries has ended"),
  });
  const budget = createByteBudget({
    bytes: LARGE_BYTES_UNDER_WAY,
    maxWaiting: { owner: MAX_WAITING_OF_ONE, all: MAX_WAITING },
    waitMs: WAIT_MS,
  });
  const files = createHandOver();
  return {
    async run<Input extends object, Output>(
      task: Task<Input, Output>,
      input: Input | (() => Promise<Input>),
      bytes: number,
    ): Promise<Output> {
      const made = async (): Promise<Input> => (typeof input === "function" ? await input() : input);
      if (bytes <= INLINE_BYTES) {
        const work = await task.load();
        return await work(await made());
      }
      const named = async (): Promise<NamedTask> => ({ task: task.name, input: await made() });
      let answer: TaskAnswer;
      try {
        answer = await pool.run<TaskAnswer>("run", named, { timeoutMs: TASK_TIMEOUT_MS, bytes });
      } catch (error) {
        throw error instanceof TaskError ? readingError(error) : error;
      }
      if ("error" in answer) throw fromPlain(answer.error);
      // A child runs the task of the same name.
      return answer.value as Output;
    },
    async take(owner, bytes) {
      const held = await budget.take(owner, bytes);
      if (held === undefined) throw unavailable("too many large documents are under way");
      return held;
    },
    handOver: (pieces) => files.of(pieces),
    async close() {
      await pool.stop();
      await files.close();
    },
  };
}

function unavailable(why: string): MoorageError {
  return new MoorageError(Code.Unavailable, `Unavailable: ${why}`, { retryAfterMs: 5_000 });
}

function readingError({ kind, message }: TaskError): Error {
  switch (kind) {
    case "busy":
      return unavailable("too many large documents wait to be read");
    case "aborted":
      return unavailable("the server is shutting down");
    case "timeout":
      return new ReadingError("it takes too long to read");
    case "memory":
      return new ReadingError("it takes too much memory to read");
    case "died":
      return new ReadingError("the process that read it has died");
    case "failed":
      return new Error(message);
  }
}
