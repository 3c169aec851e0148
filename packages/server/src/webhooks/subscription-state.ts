import type { DeliveryTarget } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import { type AdaptiveRate, createAdaptiveRate } from "./adaptive-rate.ts";
import { createLookups } from "./dns.ts";
import { openSink, type Sink } from "./sink.ts";

/** How an attempt ended, for metrics and the log. */
export interface AttemptResult {
  isDelivered: boolean;
  /** 0: no answer. */
  status: number;
  /** Empty: delivered. */
  error: string;
  latencyMs: number;
}

/** What a process keeps of a subscription from turn to turn. */
export interface SubscriptionState {
  adaptiveRate: AdaptiveRate;
  /** The client of its sink; made when it is first needed. */
  sink(target: DeliveryTarget): Promise<Sink>;
  /** Counts an attempt, and logs when deliveries begin to fail or work again. */
  note(result: AttemptResult): void;
}

/** What a process knows of the subscriptions it sends for, and the connections to their sinks. */
export interface SubscriptionStates {
  of(subscription: string): SubscriptionState;
  /** The adaptive rate of one that this process has sent for lately. */
  rateOf(subscription: string): AdaptiveRate | undefined;
  /** When its last turn began, by the monotonic clock; long ago when that is not known. */
  usedMs(subscription: string): number;
  /** Closes connections that were not used for long, and forgets what is old. `isBusy`: it is not old. */
  sweep(isBusy: (subscription: string) => boolean): Promise<void>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

interface Entry extends SubscriptionState {
  usedMs: number;
  opened?: Promise<Sink> | undefined;
}

const IDLE_MS = 60_000;
// What is known of a sink that fails must outlive its rests.
const FORGET_MS = 600_000;
// A sink that comes and goes is logged once in so long.
const WARN_EVERY_MS = 60_000;

export function createSubscriptionStates(deps: Pick<DeliveryDeps, "config" | "log" | "metrics">): SubscriptionStates {
  const {
    allowPrivateNetwork,
    eventsTimeoutMs: timeoutMs,
    eventsConcurrency: connections,
    eventsRetryMs,
  } = deps.config;
  const all = new Map<string, Entry>();
  const lookups = createLookups({ allowPrivateNetwork, timeoutMs });
  const add = (subscription: string): Entry => {
    const adaptiveRate = createAdaptiveRate(connections, eventsRetryMs[0]);
    const lookup = lookups(() => adaptiveRate.failures() > 0);
    const entry: Entry = {
      usedMs: 0,
      adaptiveRate,
      // A subscription's sink never changes.
      sink: ({ sink }) => (entry.opened ??= openSink(sink, { allowPrivateNetwork, timeoutMs, connections, lookup })),
      note: noteFor(subscription, deps),
    };
    all.set(subscription, entry);
    return entry;
  };
  return {
    of(subscription) {
      const entry = all.get(subscription) ?? add(subscription);
      entry.usedMs = performance.now();
      return entry;
    },
    rateOf: (subscription) => all.get(subscription)?.adaptiveRate,
    usedMs: (subscription) => all.get(subscription)?.usedMs ?? 0,
    async sweep(isBusy) {
      const nowMs = performance.now();
      for (const [subscription, entry] of all) {
        const idleMs = nowMs - entry.usedMs;
        if (isBusy(subscription) || idleMs < IDLE_MS) continue;
        if (idleMs >= FORGET_MS) all.delete(subscription);
        await closeSink(entry);
      }
    },
    async close() {
      await Promise.all([...all.values()].map(closeSink));
    },
  };
}

async function closeSink(entry: Entry): Promise<void> {
  const { opened } = entry;
  entry.opened = undefined;
  await (await opened)?.close();
}

/** Counts the attempts of one subscription, and logs the first that fails and the first that works again. */
function noteFor(
  subscription: string,
  { log, metrics }: Pick<DeliveryDeps, "log" | "metrics">,
): SubscriptionState["note"] {
  let warnedMs = -Infinity;
  let isLogged = false;
  return ({ isDelivered, status, error, latencyMs }) => {
    metrics.attempted({
      subscription,
      outcome: isDelivered ? "delivered" : status === 0 ? "unanswered" : "refused",
      seconds: latencyMs / 1000,
    });
    const nowMs = performance.now();
    if (isDelivered && isLogged) log.info({ subscription }, "events are delivered again");
    else if (!isDelivered && !isLogged && nowMs - warnedMs > WARN_EVERY_MS) {
      log.warn({ subscription, status, problem: error }, "events are not delivered");
      warnedMs = nowMs;
      isLogged = true;
    }
    if (isDelivered) isLogged = false;
  };
}
