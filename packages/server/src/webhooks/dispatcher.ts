import type { DeliveryDeps } from "./context.ts";
import { deliveryQueue } from "./queue.ts";
import { createSignal } from "./signal.ts";
import { createSubscriptionStates } from "./subscription-state.ts";
import { createTurns } from "./turns.ts";

/** Numbers and sends events in one process. */
export interface Dispatcher {
  /** There may be something to do. */
  wake(): void;
  /** Lets attempts under way end for as long as requests may, records them, gives back what was not sent, and stops. */
  close(): Promise<void>;
}

// After a write the next ones are waited for: they go together.
const GATHER_MS = 20;
const LONGEST_SLEEP_MS = 500;
const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 15_000;
const SEQUENCE_LIMIT = 500;
const SWEEP_EVERY_MS = 30_000;
// After the time for draining, what was cut is written.
const LAST_WRITES_MS = 3_000;

/** Starts to number events, and to send them unless the settings leave that to other processes. */
export function startDispatcher(deps: DeliveryDeps): Dispatcher {
  const { config, log } = deps;
  const queue = deliveryQueue(deps);
  const states = createSubscriptionStates(deps);
  const sleep = createGatheringSleep();
  const turns = createTurns({ ...deps, queue, states, ended: sleep.wake });
  let isClosing = false;

  const run = async (): Promise<void> => {
    let failures = 0;
    let sweptMs = performance.now();
    while (!isClosing) {
      try {
        // What has just been numbered is sent while the rest is numbered.
        while ((await queue.sequence(SEQUENCE_LIMIT)) === SEQUENCE_LIMIT && !isClosing) await turns.startDue();
        await turns.startDue();
        if (performance.now() - sweptMs > SWEEP_EVERY_MS) {
          sweptMs = performance.now();
          await states.sweep(turns.isRunning);
        }
        failures = 0;
        await sleep.sleep(LONGEST_SLEEP_MS * (0.5 + Math.random() / 2));
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
      turns.close();
      sleep.end();
      await running;
      const ended = turns.stop();
      await within(config.drainTimeoutMs, ended);
      await states.close();
      if (!(await within(LAST_WRITES_MS, ended)))
        log.warn({}, "events were sent whose fate could not be written: they are sent again");
    },
  };
}

/** A sleep that many may end, and that ends for them together: no sooner than `GATHER_MS` after the one before. */
function createGatheringSleep() {
  const signal = createSignal();
  let endedMs = -Infinity;
  let isWoken = false;
  return {
    wake(): void {
      if (isWoken) return;
      isWoken = true;
      setTimeout(signal.notify, Math.max(0, endedMs + GATHER_MS - performance.now()));
    },
    /** Ends it now. */
    end: signal.notify,
    async sleep(longestMs: number): Promise<void> {
      await signal.wait(longestMs);
      isWoken = false;
      endedMs = performance.now();
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
