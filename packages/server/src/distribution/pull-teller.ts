import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { ANONYMOUS, type CallData } from "../call.ts";
import { hasPullNotes } from "../events/index.ts";
import type { Database } from "../store/index.ts";

export interface PullTellerDeps {
  writer: { write(name: "events.notePulls", data: CallData, input: Record<string, never>): Promise<{ count: number }> };
  reader: Database;
  clock: { nowMs(): number };
  log: { warn(fields: object, message: string): void };
  /** Whether requests wait for the same processor: then they come first. */
  isShared: boolean;
}

/** Makes events of the pulls that were kept, those of processes that have died as well. */
export interface PullTeller {
  /** There are some. */
  wake(): void;
  /** Ends it; what is kept stays. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 2_000;
// Beside requests, so many a second.
const BUSY_PAUSE_MS = 500;
const BUSY = 0.85;

/** Starts it. While requests keep the process busy it goes slowly, so that they are answered as if there were no events, and makes up for it afterwards. */
export function startPullTeller({ writer, reader, clock, log, isShared }: PullTellerDeps): PullTeller {
  const isBusy = busyMeter();
  const closing = new AbortController();
  let awake = Promise.withResolvers<void>();
  const tell = async (): Promise<boolean> => {
    if (!(await hasPullNotes(reader))) return false;
    const data = { caller: ANONYMOUS, requestId: "", nowMs: clock.nowMs(), remoteAddress: "", userAgent: "" };
    return (await writer.write("events.notePulls", data, {})).count > 0;
  };
  const sleep = (timeMs: number): Promise<void> => pause(timeMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const more = await tell().catch((error: unknown) => log.warn({ err: error }, "telling of pulls failed"));
      const busy = isBusy();
      if (more === true && !(isShared && busy)) continue;
      await (more === true ? sleep(BUSY_PAUSE_MS) : Promise.race([awake.promise, sleep(LOOK_EVERY_MS)]));
      awake = Promise.withResolvers();
    }
  };
  const running = run();
  return {
    wake: () => awake.resolve(),
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** Whether the event loop has been busy since it was last asked. */
function busyMeter(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization > BUSY;
  };
}
