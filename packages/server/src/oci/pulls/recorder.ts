import { setTimeout as pause } from "node:timers/promises";
import type { Caller, CallData } from "../../core/call.ts";
import { systemCall } from "../../core/system-call.ts";
import { keepPulls, type BufferedPull } from "../../events/index.ts";
import { type Batch, createBatch, numberedCallers } from "./batch.ts";
import { createLosses } from "./losses.ts";

/** What was answered with. `tag`: as it was asked for; empty: it was asked for by digest. */
export type Pull = Pick<BufferedPull, "repository" | "repo" | "tag" | "digest" | "type">;

/**
 * Notes pulls, to have them told of by events: outside of a transaction, since a pull has none and is not to wait for
 * one.
 */
export interface PullRecorder {
  /**
   * Takes it down, to be written within half a second. Never throws, never waits. The caller may be found out without
   * being in the call's data.
   */
  note(data: CallData, caller: Caller, pull: Pull, method: BufferedPull["method"]): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** The part of the transactor that a recorder uses. */
export interface PullWriter {
  write(command: typeof keepPulls, data: CallData, input: { pulls: BufferedPull[] }): Promise<{ kept: boolean }>;
}

export interface PullRecorderDeps {
  writer: PullWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  /** Called when there are pulls that no event tells of yet. */
  kept(): void;
  /** Counts pulls that no event will tell of. */
  dropped(count: number): void;
}

const FLUSH_EVERY_MS = 500;
const PULLS_AT_ONCE = 1_000;
/** So many may wait: no more are noted until they are written, and no more are lost when the process is killed. */
const MAX_WAITING = 10_000;
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 100;

/**
 * A recorder that writes some pulls at a time: twice a second, and sooner when there are many. Pulls that are alike in
 * all but their time, of which a busy registry has many, are one note until they are events. What cannot be written is
 * tried again, then dropped and counted.
 */
export function createPullRecorder({ writer, clock, log, kept, dropped }: PullRecorderDeps): PullRecorder {
  const numberOf = numberedCallers();
  const losses = createLosses({ log, dropped });
  const full: Batch[] = [];
  let filling = createBatch(numberOf);
  let flushing: Promise<void> | undefined;
  // What is being written waits as well.
  let waiting = 0;

  const nobody = (): CallData => systemCall(clock.nowMs());
  const write = async ({ notes, count }: Batch): Promise<void> => {
    const pulls = [...notes];
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await writer.write(keepPulls, nobody(), { pulls });
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
      if (filling.count >= PULLS_AT_ONCE) void flushAll();
    },
    async close() {
      clearInterval(timer);
      while (waiting > 0) await flushAll();
      losses.report(0);
    },
  };
}
