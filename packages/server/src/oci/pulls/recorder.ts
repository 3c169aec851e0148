import { setTimeout as pause } from "node:timers/promises";
import type { Caller, CallData } from "../../core/call.ts";
import { keepPulls, type PullNote } from "../../events/index.ts";
import { systemCall } from "../../core/system-call.ts";

/** What was answered with. `tag`: as it was asked for; empty: it was asked for by digest. */
export type Pull = Pick<PullNote, "repository" | "repo" | "tag" | "digest" | "type">;

/**
 * Notes pulls, to have them told of by events: outside of a transaction, since a pull has none and is not to wait for
 * one.
 */
export interface PullRecorder {
  /**
   * Takes it down, to be written within half a second. Never throws, never waits. The caller may be found out without
   * being in the call's data.
   */
  note(data: CallData, caller: Caller, pull: Pull, method: PullNote["method"]): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** The part of the transactor that a recorder uses. */
export interface PullWriter {
  write(command: typeof keepPulls, data: CallData, input: { pulls: PullNote[] }): Promise<{ kept: boolean }>;
}

export interface PullRecorderDeps {
  writer: PullWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  /** Told that there are pulls that no event tells of yet. */
  kept(): void;
  /** Told of pulls that no event will tell of. */
  dropped(count: number): void;
}

const FLUSH_EVERY_MS = 500;
const PULLS_AT_ONCE = 1_000;
/** So many may wait: no more are noted until they are written, and no more are lost when the process is killed. */
const MAX_WAITING = 10_000;
const MAX_TRIES = 3;
const PAUSE_MS = 100;
const LOG_EVERY_MS = 60_000;
// A user agent is whatever a client says.
const MAX_USER_AGENT_CHARS = 256;

/**
 * Pulls that are written together. `latest`: who was answered with it last, and where that was noted. `count`: with how
 * often each happened.
 */
interface Batch {
  notes: Map<string, PullNote>;
  latest: Map<Pull, { note: PullNote; caller: Caller; userAgent: string }>;
  count: number;
}

/**
 * A recorder that writes some pulls at a time: twice a second, and sooner when there are many. Pulls that are alike in
 * all but their time, of which a busy registry has many, are one note until they are events. What cannot be written is
 * tried again, then dropped and counted.
 */
export function createPullRecorder({ writer, clock, log, kept, dropped }: PullRecorderDeps): PullRecorder {
  const numberOf = numberedCallers();
  const newBatch = (): Batch => ({ notes: new Map(), latest: new Map(), count: 0 });
  const full: Batch[] = [];
  let filling = newBatch();
  let lost = 0;
  let lastError: unknown;
  let loggedMs = -Infinity;
  let flushing: Promise<void> | undefined;
  // What is being written waits as well.
  let waiting = 0;

  const report = (everyMs = LOG_EVERY_MS): void => {
    const nowMs = performance.now();
    if (lost === 0 || nowMs - loggedMs < everyMs) return;
    log.error(
      { count: lost, ...(lastError !== undefined && { err: lastError }) },
      "pulls were dropped that no event tells of",
    );
    [lost, loggedMs, lastError] = [0, nowMs, undefined];
  };
  const lose = (count: number, error?: unknown): void => {
    dropped(count);
    lost += count;
    lastError ??= error;
    report();
  };
  const nobody = (): CallData => systemCall(clock.nowMs());
  const write = async ({ notes, count }: Batch): Promise<void> => {
    const pulls = [...notes.values()];
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await writer.write(keepPulls, nobody(), { pulls });
        return answer.kept ? kept() : lose(count);
      } catch (error) {
        if (tries === MAX_TRIES) return lose(count, error);
        await pause(PAUSE_MS * tries);
      }
    }
  };
  const noteOf = (
    { remoteAddress, userAgent: sent }: CallData,
    caller: Caller,
    pull: Pull,
    method: PullNote["method"],
  ): PullNote => {
    const userAgent = sent.slice(0, MAX_USER_AGENT_CHARS);
    const key = `${pull.repo} ${pull.repository} ${pull.tag} ${pull.digest} ${pull.type} ${method} ${numberOf(caller)} ${remoteAddress} ${userAgent}`;
    const known = filling.notes.get(key);
    if (known !== undefined) return known;
    const { identity, act = {} } = caller;
    const note: PullNote = { ...pull, method, actor: { identity, act }, remoteAddress, userAgent, timesMs: [] };
    filling.notes.set(key, note);
    return note;
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
    filling = newBatch();
    return flushFull();
  };
  const timer = setInterval(() => {
    report();
    void flushAll();
  }, FLUSH_EVERY_MS).unref();

  return {
    note(data, caller, pull, method) {
      if (waiting >= MAX_WAITING) return lose(1);
      // An answer that is kept is the same pull each time, and most often the same client's.
      const { remoteAddress, userAgent } = data;
      const last = filling.latest.get(pull);
      const isAlike =
        last !== undefined &&
        last.caller === caller &&
        last.userAgent === userAgent &&
        last.note.method === method &&
        last.note.remoteAddress === remoteAddress;
      const note = isAlike ? last.note : noteOf(data, caller, pull, method);
      if (!isAlike) filling.latest.set(pull, { note, caller, userAgent });
      note.timesMs.push(data.nowMs);
      filling.count += 1;
      waiting += 1;
      if (filling.count >= PULLS_AT_ONCE) void flushAll();
    },
    async close() {
      clearInterval(timer);
      while (waiting > 0) await flushAll();
      report(0);
    },
  };
}

/** A number for each caller: requests with the same token have the same one. */
function numberedCallers(): (caller: Caller) => number {
  const numbers = new WeakMap<Caller, number>();
  let last = 0;
  return (caller) => {
    const known = numbers.get(caller);
    if (known !== undefined) return known;
    numbers.set(caller, (last += 1));
    return last;
  };
}
