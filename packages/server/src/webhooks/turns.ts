import type { DeliveryDeps } from "./context.ts";
import { createAttemptLimit } from "./attempt-limit.ts";
import type { DeliveryQueue } from "./queue.ts";
import { type Sender, startSender } from "./sender.ts";
import type { SubscriptionStates } from "./subscription-state.ts";

/** The turns of sending that run in this process, one for a subscription at a time. */
export interface Turns {
  /** Gives each subscription that something is due of its turn, or lets the turn that runs know. */
  startDue(): Promise<void>;
  isRunning(subscription: string): boolean;
  /** No turn begins any more. */
  close(): void;
  /** Lets the turns that run end early. Resolves when all have ended. */
  stop(): Promise<unknown>;
}

export interface TurnsDeps extends Omit<DeliveryDeps, "transactor" | "reader"> {
  queue: DeliveryQueue;
  states: SubscriptionStates;
  /** Called when a turn has ended: another may begin in its place. */
  ended(): void;
}

// As many subscriptions may be due for this process to see them all.
const DUE_LIMIT = 1_000;
// Turns at a time. Sinks that fail have places of their own: however many there are, they take none of the others'.
const PLACES = { failing: 64, others: 128 };
const MAX_ATTEMPTS = 512;

export function createTurns(deps: TurnsDeps): Turns {
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
      // Whoever had no turn for longest comes first, so that all get one.
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
