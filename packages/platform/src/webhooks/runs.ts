import type { DeliveryDeps } from "./context.ts";
import { createAttemptLimit } from "./attempt-limit.ts";
import type { DeliveryQueue } from "./queue.ts";
import { type Sender, startSender } from "./sender.ts";
import type { SubscriptionStates } from "./subscription-state.ts";

/** The runs of sending under way in this process, at most one per subscription. */
export interface Runs {
  /** Starts a run for each subscription with due deliveries, or notifies the run it already has. */
  startDue(): Promise<void>;
  isRunning(subscription: string): boolean;
  /** Starts no more runs. */
  close(): void;
  /** Ends the current runs early. Resolves when all have ended. */
  stop(): Promise<unknown>;
}

export interface RunsDeps extends Omit<DeliveryDeps, "transactor" | "reader"> {
  queue: DeliveryQueue;
  states: SubscriptionStates;
  /** Called when a run has ended, so that another may begin. */
  ended(): void;
}

// The most due subscriptions that are read in one query.
const DUE_LIMIT = 1_000;
// The limits of concurrent runs. Failing sinks have their own, so that they take no places of the others.
const PLACES = { failing: 64, others: 128 };
const MAX_ATTEMPTS = 512;

export function createRuns(deps: RunsDeps): Runs {
  const { config, queue, states } = deps;
  const senders = new Map<string, Sender>();
  let isCrowded = false;
  let isClosing = false;
  const senderDeps = { ...deps, attemptLimit: createAttemptLimit(MAX_ATTEMPTS), isCrowded: () => isCrowded };

  const kindOf = (subscription: string): keyof typeof PLACES =>
    (states.rateOf(subscription)?.failures() ?? 0) > 0 ? "failing" : "others";
  const needsRest = (subscription: string): boolean =>
    (states.rateOf(subscription)?.readyInMs(performance.now()) ?? 0) > 0;
  const start = (subscription: string): void => {
    const sender = startSender(subscription, states.of(subscription), senderDeps);
    senders.set(subscription, sender);
    void sender.done.then(() => {
      senders.delete(subscription);
      deps.ended();
    });
  };

  return {
    async startDue() {
      if (config.eventsConcurrency === 0) return;
      // The subscription with the oldest run comes first, so that every subscription gets one.
      const due = (await queue.due(DUE_LIMIT)).toSorted((one, other) => states.usedMs(one) - states.usedMs(other));
      const free = { ...PLACES };
      for (const subscription of senders.keys()) free[kindOf(subscription)] -= 1;
      isCrowded = false;
      for (const subscription of due) {
        if (isClosing) return;
        const running = senders.get(subscription);
        running?.more();
        if (running !== undefined || needsRest(subscription)) continue;
        const kind = kindOf(subscription);
        if (free[kind] <= 0) {
          isCrowded = true;
          continue;
        }
        free[kind] -= 1;
        start(subscription);
      }
    },
    isRunning: (subscription) => senders.has(subscription),
    close: () => void (isClosing = true),
    stop() {
      for (const sender of senders.values()) sender.stop();
      return Promise.allSettled([...senders.values()].map(({ done }) => done));
    },
  };
}
