import type { DeliveryDeps } from "./context.ts";
import { createPace, type Pace } from "./adaptive-rate.ts";
import { createLookups } from "./dns.ts";
import { openSink, type Sink } from "./sink.ts";
import type { Correspondence } from "./sender.ts";

/** What a process knows of the subscriptions it sends for, and the connections to their sinks. */
export interface Correspondences {
  of(subscription: string): Correspondence;
  /** The pace of one that this process has sent for lately. */
  paceOf(subscription: string): Pace | undefined;
  /** When its last turn began, by the monotonic clock; long ago when that is not known. */
  usedMs(subscription: string): number;
  /** Closes connections that were not used for long, and forgets what is old. `isBusy`: it is not old. */
  sweep(isBusy: (subscription: string) => boolean): Promise<void>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

interface Kept extends Correspondence {
  usedMs: number;
  opened?: Promise<Sink> | undefined;
}

const IDLE_MS = 60_000;
// What is known of a sink that fails must outlive its rests.
const FORGET_MS = 600_000;
// A sink that comes and goes is told of once in so long.
const WARN_EVERY_MS = 60_000;

export function createCorrespondences({
  config,
  log,
  metrics,
}: Pick<DeliveryDeps, "config" | "log" | "metrics">): Correspondences {
  const { allowPrivateNetwork, eventsTimeoutMs: timeoutMs, eventsConcurrency: connections } = config;
  const all = new Map<string, Kept>();
  const lookups = createLookups({ allowPrivateNetwork, timeoutMs });
  const add = (subscription: string): Kept => {
    let warnedMs = -Infinity;
    let isTold = false;
    const kept: Kept = {
      usedMs: 0,
      pace: createPace(connections, config.eventsRetryMs[0]),
      // A subscription's sink never changes.
      sink: ({ sink }) =>
        (kept.opened ??= openSink(sink, {
          allowPrivateNetwork,
          timeoutMs,
          connections,
          lookup: lookups(() => kept.pace.failures() > 0),
        })),
      note({ isDelivered, status, error, latencyMs }) {
        metrics.tried({
          subscription,
          outcome: isDelivered ? "delivered" : status === 0 ? "unanswered" : "refused",
          seconds: latencyMs / 1000,
        });
        const nowMs = performance.now();
        if (isDelivered && isTold) log.info({ subscription }, "events are delivered again");
        else if (!isDelivered && !isTold && nowMs - warnedMs > WARN_EVERY_MS) {
          log.warn({ subscription, status, problem: error }, "events are not delivered");
          warnedMs = nowMs;
          isTold = true;
        }
        if (isDelivered) isTold = false;
      },
    };
    all.set(subscription, kept);
    return kept;
  };
  const closeSink = async (kept: Kept): Promise<void> => {
    const { opened } = kept;
    kept.opened = undefined;
    await (await opened)?.close();
  };
  return {
    of(subscription) {
      const kept = all.get(subscription) ?? add(subscription);
      kept.usedMs = performance.now();
      return kept;
    },
    paceOf: (subscription) => all.get(subscription)?.pace,
    usedMs: (subscription) => all.get(subscription)?.usedMs ?? 0,
    async sweep(isBusy) {
      const nowMs = performance.now();
      for (const [subscription, kept] of all) {
        const idleMs = nowMs - kept.usedMs;
        if (isBusy(subscription) || idleMs < IDLE_MS) continue;
        if (idleMs >= FORGET_MS) all.delete(subscription);
        await closeSink(kept);
      }
    },
    async close() {
      await Promise.all([...all.values()].map(closeSink));
    },
  };
}
