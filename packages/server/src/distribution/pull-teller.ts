import { performance } from "node:perf_hooks";
import { ANONYMOUS, type CallData } from "../call.ts";
import { hasPullNotes, type ToldPulls } from "../events/index.ts";
import type { Database } from "../store/index.ts";

export interface PullTellerDeps {
  writer: { write(name: "events.notePulls", data: CallData, input: Record<string, never>): Promise<ToldPulls> };
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

const NONE: ToldPulls = { count: 0, isMany: false };
const LOOK_EVERY_MS = 2_000;
const BUSY_PAUSE_MS = 2_000;
// The share of the time in which the event loop does something.
const BUSY = 0.85;

/**
 * Starts it. While requests keep the process busy it goes slowly, so that they are answered as if there were no events, and makes up for it afterwards;
 * when very many wait, it goes as fast as it can all the same, since none is to be lost.
 */
export function startPullTeller({ writer, reader, clock, log, isShared }: PullTellerDeps): PullTeller {
  const isBusy = busyMeter();
  let isClosing = false;
  let isWoken = false;
  let awake: (isClosing: boolean) => void = () => {};
  const tell = async (): Promise<ToldPulls> => {
    if (!(await hasPullNotes(reader))) return NONE;
    return await writer.write("events.notePulls", { caller: ANONYMOUS, requestId: "", nowMs: clock.nowMs(), remoteAddress: "", userAgent: "" }, {});
  };
  /** Until the time is over, it is closed, or, when it may be, woken. */
  const sleep = async (timeMs: number, mayWake: boolean): Promise<void> => {
    if (isClosing || (mayWake && isWoken)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeMs).unref();
    awake = (closing) => { if (closing || mayWake) resolve(); };
    await promise;
    clearTimeout(timer);
  };
  const run = async (): Promise<void> => {
    while (!isClosing) {
      isWoken = false;
      const { count, isMany } = await tell().catch((error: unknown) => {
        log.warn({ err: error }, "telling of pulls failed");
        return NONE;
      });
      const isSlow = isBusy() && isShared && !isMany;
      if (count === 0) await sleep(LOOK_EVERY_MS, true);
      else if (isSlow) await sleep(BUSY_PAUSE_MS, false);
    }
  };
  const running = run();
  return {
    wake() {
      isWoken = true;
      awake(false);
    },
    async close() {
      isClosing = true;
      awake(true);
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
