import { type DescMethodUnary, type Message, toBinary } from "@bufbuild/protobuf";
import type { CallData } from "@moorage/kernel/core/call";
import { type AnswerForm, type Written, written } from "@moorage/kernel/core/written-answer";
import { Code, failedPrecondition, fromPlain, MoorageError, type PlainError } from "@moorage/kernel/errors";
import { createByteBudget } from "@moorage/kernel/lib/byte-budget";
import { type ProcessPool, TaskError } from "@moorage/kernel/lib/process-pool";
import { nameOf } from "./methods.ts";

/** A call that is too heavy for this thread. */
interface LargeCall {
  method: DescMethodUnary;
  data: CallData;
  message: Message;
  /** The form of the answer. */
  form: AnswerForm;
  /** How many rows the step had that was too heavy. */
  rows: number;
  hasLeft?: (() => boolean) | undefined;
}

/** Answers calls in other processes. */
export interface LargeAnswers {
  /**
   * The answer, whose `release` must be called. Throws what the method throws; RESOURCE_EXHAUSTED when too many are
   * under way, ABORTED when the client has left meanwhile, and UNAVAILABLE when the process ended.
   */
  answer(call: LargeCall): Promise<Written>;
  /** What the answers that are made or sent take together, in bytes, and how many calls wait. */
  use(): { bytes: number; waiting: number };
}

/** What a process is asked. */
export interface LargeTask {
  method: string;
  data: CallData;
  request: Uint8Array;
  form: AnswerForm;
}

/** What it answers. */
export type LargeOutcome = { bytes: Uint8Array; etag: string } | { error: PlainError };

/** The largest answer, in bytes. */
export const MAX_LARGE_BYTES = 96 << 20;

/** What all answers that are made or sent may take together. */
const BUDGET_BYTES = 192 << 20;
/** What a row comes to in an answer, before it is known. */
const BYTES_A_ROW = 600;
const MAX_WAITING = { owner: 8, all: 32 };
const WAIT_MS = 60_000;
const RETRY_AFTER_MS = 5_000;
const TIMEOUT_MS = 120_000;
const LOOK_MS = 250;

/** What is counted. Outcomes: `ok`, `busy`, `error`, or the kind of a TaskError. */
export interface LargeAnswerMetrics {
  answered(outcome: string): void;
}

/** `pool`: of the processes, which have the task `answer`. */
export function largeAnswers(pool: Pick<ProcessPool, "run">, metrics: LargeAnswerMetrics): LargeAnswers {
  const budget = createByteBudget({ bytes: BUDGET_BYTES, maxWaiting: MAX_WAITING, waitMs: WAIT_MS });
  return {
    use: budget.use,
    async answer({ method, data, message, form, rows, hasLeft }) {
      const task: LargeTask = { method: nameOf(method), data, request: toBinary(method.input, message), form };
      const held = await budget.take(data.caller.identity, Math.min(rows * BYTES_A_ROW, MAX_LARGE_BYTES));
      if (held === undefined) {
        metrics.answered("busy");
        throw busy();
      }
      try {
        const outcome = await run(pool, task, { hasLeft, metrics });
        metrics.answered("error" in outcome ? "error" : "ok");
        if ("error" in outcome) throw fromPlain(outcome.error);
        held.resize(outcome.bytes.length);
        return written({ form, ...outcome, release: held.release });
      } catch (error) {
        held.release();
        throw error;
      }
    },
  };
}

async function run(
  pool: Pick<ProcessPool, "run">,
  task: LargeTask,
  { hasLeft, metrics }: { hasLeft: (() => boolean) | undefined; metrics: LargeAnswerMetrics },
): Promise<LargeOutcome> {
  const left = new AbortController();
  // A client that leaves frees its place among those that wait; what has begun is finished.
  const timer = setInterval(() => hasLeft?.() === true && left.abort(), LOOK_MS).unref();
  const begin = (): LargeTask => {
    clearInterval(timer);
    return task;
  };
  try {
    return await pool.run<LargeOutcome>("answer", begin, { timeoutMs: TIMEOUT_MS, signal: left.signal });
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    metrics.answered(error.kind);
    throw errorOf(error, left.signal.aborted);
  } finally {
    clearInterval(timer);
  }
}

function errorOf(error: TaskError, hasLeft: boolean): Error {
  switch (error.kind) {
    case "failed":
      return error;
    case "busy":
      return busy();
    case "memory":
      return tooLarge("takes more memory than an answer may");
    case "timeout":
      return unavailable("the answer took too long", error);
    case "aborted":
      if (hasLeft) return new MoorageError(Code.Aborted, "Aborted: the caller has left");
      return unavailable("the server is shutting down", error);
    case "died":
      return unavailable("the process that made the answer has ended", error);
  }
}

/** The error for an answer that is larger than any may be. */
export function tooLarge(problem: string): MoorageError {
  return failedPrecondition({
    type: "ANSWER_TOO_LARGE",
    subject: "",
    description: `the answer ${problem}: ask for less`,
  });
}

function busy(): MoorageError {
  return new MoorageError(Code.ResourceExhausted, "Resource exhausted: too many large answers are under way", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function unavailable(problem: string, cause: Error): MoorageError {
  return new MoorageError(Code.Unavailable, `Unavailable: ${problem}`, { retryAfterMs: RETRY_AFTER_MS, cause });
}
