import { setTimeout as pause } from "node:timers/promises";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import { type BufferedPulls, keepPulls } from "@moorage/platform/events";
import { type Batch, createBatch, numberedCallers, type Pull } from "./batch.ts";
import { createLosses } from "./losses.ts";

/**
 * Records pulls in the pull buffer, from which their events are emitted. It does not use the transaction of a request:
 * a pull has none, and must not wait for one.
 */
export interface PullRecorder {
  /**
   * Records a pull, to be written within half a second. Never throws and never waits. `caller` is given apart, since
   * that of `data` may not be authenticated yet.
   */
  note(data: CallData, caller: Caller, pull: Pull, method: BufferedPulls["method"]): void;
  /** Writes all pulls recorded so far. */
  close(): Promise<void>;
}

/** The part of the transactor that a recorder uses. */
interface PullWriter {
  write(command: typeof keepPulls, data: CallData, input: { pulls: string }): Promise<{ kept: boolean }>;
}

export interface PullRecorderDeps {
  writer: PullWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  /** Called when pulls were written that have no events yet. */
  kept(): void;
  /** Counts pulls that will have no event. */
  dropped(count: number): void;
}

const FLUSH_EVERY_MS = 500;
const BATCH_PULLS = 1_000;

/**
 * The most pulls in memory: more are dropped until these are written, and at most these are lost when the process is
 * killed.
 */
const MAX_WAITING = 10_000;
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 100;

/**
 * Creates a recorder that writes pulls in batches: twice a second, and sooner when a batch is full. Pulls by one client
 * from one repo share what they have in common, since a busy registry has many of these. A failed write is attempted
 * again, then its pulls are dropped and counted.
 */
export function createPullRecorder({ writer, clock, log, kept, dropped }: PullRecorderDeps): PullRecorder {
  const numberOf = numberedCallers();
  const losses = createLosses({ log, dropped });
  const full: Batch[] = [];
  let filling = createBatch(numberOf);
  let flushing: Promise<void> | undefined;
  // Includes the pulls that are being written.
  let waiting = 0;

  const newCall = (): CallData => systemCall(clock.nowMs());
  const write = async (batch: Batch): Promise<void> => {
    const { count } = batch;
    const pulls = JSON.stringify([...batch.pulls]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await writer.write(keepPulls, newCall(), { pulls });
        return answer.kept ? kept() : losses.add(count);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) return losses.add(count, error);
        await pause(PAUSE_MS * attempt);
      }
    }
  };
  const flush = async (): Promise<void> => {
    for (let batch = full.shift(); batch !== undefined; batch = full.shift()) {
      await write(batch);
      waiting -= batch.count;
    }
  };
  const flushFull = (): Promise<void> =>
    (flushing ??= flush().finally(() => {
      flushing = undefined;
    }));
  const flushAll = (): Promise<void> => {
    if (filling.count > 0) full.push(filling);
    filling = createBatch(numberOf);
    return flushFull();
  };
  const timer = setInterval(() => {
    losses.report();
    void flushAll();
  }, FLUSH_EVERY_MS).unref();

  return {
    note(data, caller, pull, method) {
      if (waiting >= MAX_WAITING) return losses.add(1);
      filling.add(data, caller, pull, method);
      waiting += 1;
      if (filling.count >= BATCH_PULLS) void flushAll();
    },
    async close() {
      clearInterval(timer);
      while (waiting > 0) await flushAll();
      losses.report(0);
    },
  };
}
