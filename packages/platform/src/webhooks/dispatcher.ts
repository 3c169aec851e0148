import type { DeliveryDeps } from "./context.ts";
import { deliveryQueue } from "./queue.ts";
import { createSignal } from "./signal.ts";
import { createSubscriptionStates } from "./subscription-state.ts";
import { createRuns } from "./runs.ts";

/** Assigns sequence numbers to events and delivers them, in one process. */
export interface Dispatcher {
  /** Signals that there may be new events or due deliveries. */
  wake(): void;
  /**
   * Stops: waits for the attempts under way, up to the drain timeout of requests, records them, and releases deliveries
   * that were not sent.
   */
  close(): Promise<void>;
}

// Waits this long after a wake-up, so that the events of several writes are numbered together: longer when there were
// many the last time, since numbering costs a dozen statements, however many there are.
const GATHER_MS = { few: 20, many: 80 };
const MANY = 20;
const LONGEST_SLEEP_MS = 500;
const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 15_000;
const SEQUENCE_LIMIT = 500;
const SWEEP_EVERY_MS = 30_000;
// After the drain timeout, how long recording the interrupted attempts may take.
const LAST_WRITES_MS = 3_000;

/** Starts numbering events, and delivering them unless the settings leave that to other processes. */
export function startDispatcher(deps: DeliveryDeps): Dispatcher {
  const { config, log } = deps;
  const queue = deliveryQueue(deps);
  const states = createSubscriptionStates(deps);
  const sleep = createGatheringSleep();
  const runs = createRuns({ ...deps, queue, states, ended: sleep.wake });
  let isClosing = false;

  const run = async (): Promise<void> => {
    let failures = 0;
    let sweptMs = performance.now();
    while (!isClosing) {
      try {
        // Events just numbered are sent while the next batch is numbered.
        let count: number;
        while ((count = await queue.sequence(SEQUENCE_LIMIT)) === SEQUENCE_LIMIT && !isClosing) await runs.startDue();
        await runs.startDue();
        if (performance.now() - sweptMs > SWEEP_EVERY_MS) {
          sweptMs = performance.now();
          await states.sweep(runs.isRunning);
        }
        failures = 0;
        await sleep.sleep(LONGEST_SLEEP_MS * (0.5 + Math.random() / 2), count < MANY ? GATHER_MS.few : GATHER_MS.many);
      } catch (error) {
        if (isClosing) return;
        log.warn({ err: error }, "looking for events to send failed");
        await sleep.sleep(Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10)));
        failures += 1;
      }
    }
  };
  const running = run();

  return {
    wake: sleep.wake,
    async close() {
      isClosing = true;
      runs.close();
      sleep.end();
      await running;
      const ended = runs.stop();
      await within(config.drainTimeoutMs, ended);
      await states.close();
      if (!(await within(LAST_WRITES_MS, ended)))
        log.warn({}, "the outcomes of some sent events could not be recorded; those events are sent again");
    },
  };
}

/** A sleep that `wake` ends, no sooner than a while after the previous one, so that many wakes end it once. */
function createGatheringSleep() {
  const signal = createSignal();
  let endedMs = -Infinity;
  let whileMs = GATHER_MS.few;
  let isWoken = false;
  return {
    wake(): void {
      if (isWoken) return;
      isWoken = true;
      setTimeout(signal.notify, Math.max(0, endedMs + whileMs - performance.now()));
    },
    /** Ends the sleep immediately. */
    end: signal.notify,
    /** `gatherMs`: that while, for wakes from now on. */
    async sleep(longestMs: number, gatherMs = GATHER_MS.few): Promise<void> {
      whileMs = gatherMs;
      await signal.wait(longestMs);
      isWoken = false;
      endedMs = performance.now();
    },
  };
}

/** Whether the work ended within the time. */
async function within(timeMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeMs);
  const isDone = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}
