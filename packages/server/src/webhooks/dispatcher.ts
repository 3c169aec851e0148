import type { DeliveryDeps } from "./context.ts";
import { createCorrespondences } from "./subscription-state.ts";
import { deliveryQueue } from "./queue.ts";
import { createTries } from "./attempt-limit.ts";
import { startWorker, type Worker, type WorkerDeps } from "./sender.ts";

/** Numbers and sends events in one process. */
export interface Postman {
  /** There may be something to do. */
  wake(): void;
  /** Lets tries under way end for as long as requests may, records them, gives back what was not sent, and stops. */
  close(): Promise<void>;
}

// After a write the next ones are waited for: they go together.
const GATHER_MS = 20;
const LONGEST_SLEEP_MS = 500;
const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 15_000;
const SEQUENCE_LIMIT = 500;
// As many subscriptions may be due for this process to see them all.
const LOOK_AT = 1_000;
// Turns at a time. Sinks that fail have places of their own: however many there are, they take none of the others'.
const MAX_WORKERS = 128;
const MAX_FAILING_WORKERS = 64;
const MAX_TRIES = 512;
const SWEEP_EVERY_MS = 30_000;
// After the time for draining, what was cut is written.
const LAST_WRITES_MS = 3_000;

/** Starts to number events, and to send them unless the settings leave that to other processes. */
export function startPostman(deps: DeliveryDeps): Postman {
  const { config, log } = deps;
  const queue = deliveryQueue(deps);
  const correspondences = createCorrespondences(deps);
  const workers = new Map<string, Worker>();
  const isFailing = (subscription: string): boolean => (correspondences.paceOf(subscription)?.failures() ?? 0) > 0;
  let isCrowded = false;
  let isClosing = false;
  let awakenedMs = -Infinity;
  let awake = Promise.withResolvers<void>();
  let isAwake = false;
  const workerDeps: WorkerDeps = { ...deps, queue, tries: createTries(MAX_TRIES), isCrowded: () => isCrowded };

  const wake = (): void => {
    if (isAwake) return;
    isAwake = true;
    setTimeout(() => awake.resolve(), Math.max(0, awakenedMs + GATHER_MS - performance.now()));
  };
  const sleep = async (longestMs: number): Promise<void> => {
    const timer = setTimeout(() => awake.resolve(), longestMs);
    await awake.promise;
    clearTimeout(timer);
    awake = Promise.withResolvers<void>();
    isAwake = false;
    awakenedMs = performance.now();
  };

  /** Gives each subscription that something is due of its turn, or tells the turn that runs. */
  const look = async (): Promise<void> => {
    if (config.eventsConcurrency === 0) return;
    // Whoever had no turn for longest comes first, so that all get one.
    const due = (await queue.due(LOOK_AT)).toSorted(
      (one, other) => correspondences.usedMs(one) - correspondences.usedMs(other),
    );
    const places = { failing: MAX_FAILING_WORKERS, others: MAX_WORKERS };
    for (const subscription of workers.keys()) places[isFailing(subscription) ? "failing" : "others"] -= 1;
    isCrowded = false;
    for (const subscription of due) {
      if (isClosing) return;
      const running = workers.get(subscription);
      running?.more();
      if (running !== undefined || (correspondences.paceOf(subscription)?.readyInMs(performance.now()) ?? 0) > 0)
        continue;
      const lane = isFailing(subscription) ? "failing" : "others";
      if (places[lane] <= 0) {
        isCrowded = true;
        continue;
      }
      places[lane] -= 1;
      const worker = startWorker(subscription, correspondences.of(subscription), workerDeps);
      workers.set(subscription, worker);
      void worker.done.then(() => {
        workers.delete(subscription);
        wake();
      });
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    let sweptMs = performance.now();
    while (!isClosing) {
      try {
        // What has just been numbered is sent while the rest is numbered.
        while ((await queue.sequence(SEQUENCE_LIMIT)) === SEQUENCE_LIMIT && !isClosing) await look();
        await look();
        if (performance.now() - sweptMs > SWEEP_EVERY_MS) {
          sweptMs = performance.now();
          await correspondences.sweep((subscription) => workers.has(subscription));
        }
        failures = 0;
        await sleep(LONGEST_SLEEP_MS * (0.5 + Math.random() / 2));
      } catch (error) {
        if (isClosing) return;
        log.warn({ err: error }, "looking for events to send failed");
        await sleep(Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10)));
        failures += 1;
      }
    }
  };
  const running = run();

  return {
    wake,
    async close() {
      isClosing = true;
      awake.resolve();
      await running;
      for (const worker of workers.values()) worker.stop();
      const ended = Promise.allSettled([...workers.values()].map(({ done }) => done));
      await within(config.drainTimeoutMs, ended);
      await correspondences.close();
      if (!(await within(LAST_WRITES_MS, ended)))
        log.warn({}, "events were sent whose fate could not be written: they are sent again");
    },
  };
}

/** Whether it ended in that time. */
async function within(timeMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeMs);
  const isDone = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}
