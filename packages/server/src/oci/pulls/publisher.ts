import { performance } from "node:perf_hooks";
import type { CallData } from "../../core/call.ts";
import { hasBufferedPulls, notePulls, type PublishedPulls } from "../../events/index.ts";
import type { Database } from "../../store/index.ts";
import { systemCall } from "../../core/system-call.ts";

export interface PullPublisherDeps {
  writer: { write(command: typeof notePulls, data: CallData, input: Record<string, never>): Promise<PublishedPulls> };
  reader: Database;
  clock: { nowMs(): number };
  log: { warn(fields: object, message: string): void };
  /** Whether requests wait for the same processor: then they come first. */
  isShared: boolean;
}

/** Makes events of the pulls that were kept, those of processes that have died as well. */
export interface PullPublisher {
  /** There are some. */
  wake(): void;
  /** Ends it; what is kept stays. */
  close(): Promise<void>;
}

const NONE: PublishedPulls = { count: 0, isMany: false };
const LOOK_EVERY_MS = 2_000;
// Before it tells of some, it looks whether the process is busy; as long as it is, so often.
const BUSY_LOOK_MS = 200;
const BUSY_LOOKS = 10;
// The share of the time in which the event loop does something.
const BUSY = 0.6;

/**
 * Starts it. While requests keep the process busy it goes slowly, so that they are answered as if there were no events,
 * and makes up for it afterwards; when very many wait, it goes as fast as it can all the same, since none is to be
 * lost.
 */
export function startPullPublisher({ writer, reader, clock, log, isShared }: PullPublisherDeps): PullPublisher {
  let isClosing = false;
  let isWoken = false;
  let awake: (isClosing: boolean) => void = () => {};
  const tell = async (): Promise<PublishedPulls> => {
    if (!(await hasBufferedPulls(reader))) return NONE;
    return await writer.write(notePulls, systemCall(clock.nowMs()), {});
  };
  const failed = (error: unknown): PublishedPulls => {
    log.warn({ err: error }, "telling of pulls failed");
    return NONE;
  };
  /** Until the time is over, it is closed, or, when it may be, woken. */
  const sleep = async (timeMs: number, mayWake: boolean): Promise<void> => {
    if (isClosing || (mayWake && isWoken)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeMs).unref();
    awake = (closing) => {
      if (closing || mayWake) resolve();
    };
    await promise;
    clearTimeout(timer);
  };
  /** Whether the event loop is busy while the work is done: what is going on now is what counts. */
  const isBusyDuring = async (work: () => Promise<unknown>): Promise<boolean> => {
    const before = performance.eventLoopUtilization();
    await work();
    return performance.eventLoopUtilization(before).utilization > BUSY;
  };
  const run = async (): Promise<void> => {
    let told = NONE;
    let isBusy = true;
    while (!isClosing) {
      isWoken = false;
      const looks = isShared && !told.isMany ? BUSY_LOOKS : 0;
      for (let look = 0; isBusy && look < looks; look += 1)
        isBusy = await isBusyDuring(() => sleep(BUSY_LOOK_MS, false));
      isBusy = await isBusyDuring(async () => {
        told = await tell().catch(failed);
      });
      if (told.count > 0) continue;
      await sleep(LOOK_EVERY_MS, true);
      isBusy = true;
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
