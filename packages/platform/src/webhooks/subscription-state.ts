import { organizationOf } from "@moorage/kernel/lib/uid";
import type { DeliveryTarget } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import { type AdaptiveRate, createAdaptiveRate } from "./adaptive-rate.ts";
import { createLookups } from "./dns.ts";
import { openSink, type Sink } from "./sink.ts";

/** How an attempt ended, for metrics and the log. */
interface AttemptResult {
  isDelivered: boolean;
  /** The HTTP status; 0 without an answer. */
  status: number;
  /** Why the attempt failed; empty when the event was delivered. */
  error: string;
  latencyMs: number;
}

/** What a process keeps of a subscription between runs. */
export interface SubscriptionState {
  adaptiveRate: AdaptiveRate;
  /** The client of its sink, opened on first use. */
  sink(target: DeliveryTarget): Promise<Sink>;
  /** Counts an attempt, and logs when deliveries start to fail and when they work again. */
  note(result: AttemptResult): void;
}

/** The state of all subscriptions that a process sends for, with the connections to their sinks. */
export interface SubscriptionStates {
  of(subscription: string): SubscriptionState;
  /** The adaptive rate of a subscription; undefined when this process has not sent for it lately. */
  rateOf(subscription: string): AdaptiveRate | undefined;
  /** When its last run began, by the monotonic clock; 0 when that is unknown. */
  usedMs(subscription: string): number;
  /** Closes idle connections and drops old states, except of subscriptions that are `isBusy`. */
  sweep(isBusy: (subscription: string) => boolean): Promise<void>;
  /** Aborts the requests under way and closes all connections. */
  close(): Promise<void>;
}

interface Entry extends SubscriptionState {
  usedMs: number;
  opened?: Promise<Sink> | undefined;
}

const IDLE_MS = 60_000;
// Longer than any rest, so that a failing sink's adaptive rate is not forgotten during it.
const FORGET_MS = 600_000;
// A sink that alternates between failing and working is logged at most once in this time.
const WARN_EVERY_MS = 60_000;

export function createSubscriptionStates(deps: Pick<DeliveryDeps, "config" | "log" | "metrics">): SubscriptionStates {
  const {
    allowPrivateNetwork,
    dnsServers,
    eventsTimeoutMs: timeoutMs,
    eventsConcurrency: connections,
    eventsRetryMs,
  } = deps.config;
  const all = new Map<string, Entry>();
  const lookups = createLookups({ allowPrivateNetwork, dnsServers, timeoutMs });
  const add = (subscription: string): Entry => {
    const adaptiveRate = createAdaptiveRate(connections, eventsRetryMs[0]);
    const lookup = lookups(organizationOf(subscription), () => adaptiveRate.failures() > 0);
    const entry: Entry = {
      usedMs: 0,
      adaptiveRate,
      // The URL of a subscription's sink never changes, so the first client stays valid.
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

/** Counts the attempts of one subscription, and logs the first failure and the first delivery after it. */
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
