import { performance } from "node:perf_hooks";
import type { CallData } from "@moorage/kernel/core/call";
import { hasBufferedPulls, notePulls, type PublishedPulls } from "@moorage/platform/events";
import type { Database } from "@moorage/kernel/store";
import { systemCall } from "@moorage/kernel/core/system-call";

export interface PullPublisherDeps {
  writer: { write(command: typeof notePulls, data: CallData, input: Record<string, never>): Promise<PublishedPulls> };
  reader: Database;
  clock: { nowMs(): number };
  log: { warn(fields: object, message: string): void };
  /** Whether requests are served by the same processor. They have priority then. */
  isShared: boolean;
}

/** Emits the events of buffered pulls, including those that a crashed process left behind. */
export interface PullPublisher {
  /** Reports that pulls were buffered. */
  wake(): void;
  /** Stops publishing. Buffered pulls remain in the database. */
  close(): Promise<void>;
}

const NONE: PublishedPulls = { count: 0, isMany: false };
const POLL_MS = 2_000;
// Before a batch is published, the load of the process is sampled, and publishing waits while it is busy: at most so
// many samples, each of this length.
const BUSY_SAMPLE_MS = 200;
const MAX_BUSY_SAMPLES = 10;
// The event loop counts as busy above this share of its time.
const BUSY_UTILIZATION = 0.6;

/**
 * Starts the publisher. While requests keep the process busy it publishes slowly, so that they are not delayed, and
 * catches up afterwards. When very many pulls are buffered it publishes as fast as it can, since none may be lost.
 */
export function startPullPublisher({ writer, reader, clock, log, isShared }: PullPublisherDeps): PullPublisher {
  let isClosing = false;
  let isWoken = false;
  let endSleep: (isClosing: boolean) => void = () => {};
  const publish = async (): Promise<PublishedPulls> => {
    if (!(await hasBufferedPulls(reader))) return NONE;
    return await writer.write(notePulls, systemCall(clock.nowMs()), {});
  };
  const failed = (error: unknown): PublishedPulls => {
    log.warn({ err: error }, "publishing pull events failed");
    return NONE;
  };
  /** Waits for `timeMs`, or until `close`, or, with `mayWake`, until `wake`. */
  const sleep = async (timeMs: number, mayWake: boolean): Promise<void> => {
    if (isClosing || (mayWake && isWoken)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeMs).unref();
    endSleep = (closing) => {
      if (closing || mayWake) resolve();
    };
    await promise;
    clearTimeout(timer);
  };
  /** Whether the event loop is busy while the work is done. */
  const isBusyDuring = async (work: () => Promise<unknown>): Promise<boolean> => {
    const before = performance.eventLoopUtilization();
    await work();
    return performance.eventLoopUtilization(before).utilization > BUSY_UTILIZATION;
  };
  const run = async (): Promise<void> => {
    let published = NONE;
    let isBusy = true;
    while (!isClosing) {
      isWoken = false;
      const samples = isShared && !published.isMany ? MAX_BUSY_SAMPLES : 0;
      for (let sample = 0; isBusy && sample < samples; sample += 1)
        isBusy = await isBusyDuring(() => sleep(BUSY_SAMPLE_MS, false));
      isBusy = await isBusyDuring(async () => {
        published = await publish().catch(failed);
      });
      if (published.count > 0) continue;
      await sleep(POLL_MS, true);
      isBusy = true;
    }
  };
  const running = run();
  return {
    wake() {
      isWoken = true;
      endSleep(false);
    },
    async close() {
      isClosing = true;
      endSleep(true);
      await running;
    },
  };
}
