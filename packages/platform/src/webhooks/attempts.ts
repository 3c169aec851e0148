import type { ClaimedDelivery } from "../events/index.ts";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import type { AttemptLimit } from "./attempt-limit.ts";
import type { DeliveryDeps } from "./context.ts";
import type { Destination, Open } from "./destination.ts";
import type { Lease } from "./lease.ts";
import type { OutcomeRecorder } from "./outcomes.ts";
import { signedRequest } from "./sign.ts";

/** The deliveries claimed for one subscription, and the attempts to send them. */
export interface Attempts {
  /** Deliveries claimed but not begun, the next one first. */
  readonly waiting: ClaimedDelivery[];
  /** The number of attempts that have begun and not ended. */
  underWay(): number;
  /**
   * Begins as many attempts as may begin now. Returns in how many milliseconds another may begin; undefined when that
   * depends on something other than time.
   */
  begin(): number | undefined;
}

export interface AttemptsDeps extends Pick<DeliveryDeps, "clock" | "bodyTypes" | "config" | "log" | "tokens"> {
  adaptiveRate: AdaptiveRate;
  attemptLimit: AttemptLimit;
  destination: Destination;
  lease: Lease;
  recorder: OutcomeRecorder;
  /** Whether the run begins no more attempts. */
  isStopping(): boolean;
  /** Called when an attempt has ended, after others have begun in its place. */
  changed(): void;
}

export function createAttempts(subscription: string, deps: AttemptsDeps): Attempts {
  const { adaptiveRate, attemptLimit, clock, destination, lease, log, recorder } = deps;
  const waiting: ClaimedDelivery[] = [];
  let underWay = 0;

  const begin = (): number | undefined => {
    for (;;) {
      const open = destination.open();
      if (deps.isStopping() || open === undefined || underWay >= adaptiveRate.concurrency()) return undefined;
      const nowMs = performance.now();
      if (!lease.coversAttempt(nowMs)) return undefined;
      const [next] = waiting;
      if (next === undefined) return undefined;
      const restMs = adaptiveRate.readyInMs(nowMs);
      if (restMs > 0) return restMs;
      if (!attemptLimit.take(underWay === 0)) return undefined;
      waiting.shift();
      adaptiveRate.began(nowMs);
      void attempt(next, open);
    }
  };

  const attempt = async (delivery: ClaimedDelivery, { sink, recipient }: Open): Promise<void> => {
    underWay += 1;
    const start = { ms: performance.now(), timeMs: clock.nowMs() };
    try {
      const request = await signedRequest(delivery.event, recipient, deps);
      // Signing may have waited for the database, so the lease is checked again.
      if (lease.coversAttempt(performance.now())) recorder.ended(delivery, await sink.send(request), start);
      else waiting.unshift(delivery);
    } catch (error) {
      log.warn({ err: error, subscription }, "an event could not be signed");
      const reply = { status: 0, error: "interrupted: this server could not sign it", isInterrupted: true };
      recorder.ended(delivery, reply, start);
    }
    underWay -= 1;
    attemptLimit.end();
    begin();
    deps.changed();
  };

  return { waiting, underWay: () => underWay, begin };
}
