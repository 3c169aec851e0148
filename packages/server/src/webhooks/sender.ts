import { type ClaimedDelivery, type DeliveryTarget, type Outcome, subscriptionPlace } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import { askSink, HANDSHAKE_EVERY_MS } from "./handshake.ts";
import type { Pace } from "./adaptive-rate.ts";
import type { DeliveryQueue } from "./queue.ts";
import { judge, type Reply } from "./retry.ts";
import { type Recipient, signedRequest, signingKey } from "./sign.ts";
import type { Sink } from "./sink.ts";
import type { Tries } from "./attempt-limit.ts";

/** What a process keeps of a subscription from turn to turn. */
export interface Correspondence {
  pace: Pace;
  /** The client of its sink; made when it is first needed. */
  sink(target: DeliveryTarget): Promise<Sink>;
  /** How a try ended: for metrics and the log. */
  note(result: { isDelivered: boolean; status: number; error: string; latencyMs: number }): void;
}

export interface WorkerDeps extends Pick<DeliveryDeps, "clock" | "config" | "log" | "metrics" | "secrets" | "tokens"> {
  queue: DeliveryQueue;
  tries: Tries;
  /** Whether other subscriptions wait for this one's turn to end. */
  isCrowded(): boolean;
}

/** One turn of sending for a subscription. */
export interface Worker {
  /** There is more to send than was found the last time. */
  more(): void;
  /** Begins nothing more. What is under way ends, is recorded, and the rest is given back. */
  stop(): void;
  /** Resolves at the end of the turn. It never rejects. */
  done: Promise<void>;
}

// Once others wait, a turn takes no longer than this.
const TURN_MS = 2_000;
// And in no case longer than this: at its end other processes may take the subscription, and whatever of it is stuck
// comes to light.
const LONGEST_TURN_MS = 60_000;
// Outcomes gather for so long, or until there are so many: each write costs a commit.
const GATHER_MS = 20;
const GATHER_MOST = 64;
// A rest that is shorter is waited for; for a longer one the subscription is left.
const LONGEST_WAIT_MS = 100;
const FIRST_BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 5_000;
// How often what happened is written to a database that does not take it, once the server is told to end.
const LAST_WRITES = 3;
// Clocks of processes may differ by so much: the lease is asked for longer than it is used.
const CLOCK_MARGIN_MS = 2_000;

/** Sends what is due of the subscription, until nothing is, the sink needs a rest, or others wait. */
export function startWorker(
  subscription: string,
  { pace, sink: sinkOf, note }: Correspondence,
  deps: WorkerDeps,
): Worker {
  const { clock, config, log, queue, tries } = deps;
  const useMs = 2 * config.eventsTimeoutMs;
  const startedMs = performance.now();
  let leaseEndMs = 0;
  let mayClaim = true;
  let isStopping = false;
  let isClosing = false;
  let disable: string | undefined;
  let handshake: { atMs: number; allowedRate: number } | undefined;
  let isHandshakeTold = false;
  let recipient: (Recipient & { secrets: string }) | undefined;
  let sink: Sink | undefined;
  const waiting: ClaimedDelivery[] = [];
  let outcomes: Outcome[] = [];
  let oldestOutcomeMs = 0;
  let underWay = 0;
  let changed = Promise.withResolvers<void>();

  const change = (): void => changed.resolve();
  /** Waits until something has changed, so long at most. */
  const changes = async (longestMs: number): Promise<void> => {
    const timer = setTimeout(change, longestMs);
    await changed.promise;
    clearTimeout(timer);
    changed = Promise.withResolvers<void>();
  };

  /**
   * Whether a try that begins now ends while the lease lasts: one that outlived it could be made by two processes at
   * the same time.
   */
  const mayBegin = (nowMs: number): boolean => nowMs + config.eventsTimeoutMs <= leaseEndMs;

  /**
   * Begins as many tries as may begin now. Answers in how many milliseconds there may be another; undefined: when
   * something has changed.
   */
  const fill = (): number | undefined => {
    while (!isStopping && sink !== undefined && recipient !== undefined && underWay < pace.concurrency()) {
      const nowMs = performance.now();
      if (!mayBegin(nowMs)) return undefined;
      const [next] = waiting;
      if (next === undefined) return undefined;
      const restMs = pace.readyInMs(nowMs);
      if (restMs > 0) return restMs;
      if (!tries.take(underWay === 0)) return undefined;
      waiting.shift();
      pace.began(nowMs);
      void attempt(next, sink, recipient);
    }
    return undefined;
  };

  const attempt = async (delivery: ClaimedDelivery, to: Sink, from: Recipient): Promise<void> => {
    underWay += 1;
    const startMs = performance.now();
    const startTimeMs = clock.nowMs();
    try {
      const request = await signedRequest(delivery.event, from, deps);
      // Signing may have waited for the database.
      if (mayBegin(performance.now())) ended(delivery, await to.send(request), startTimeMs, startMs);
      else waiting.unshift(delivery);
    } catch (error) {
      log.warn({ err: error, subscription }, "an event could not be signed");
      ended(
        delivery,
        { status: 0, error: "interrupted: this server could not sign it", isInterrupted: true },
        startTimeMs,
        startMs,
      );
    }
    underWay -= 1;
    tries.end();
    fill();
    change();
  };

  /** Notes how a try ended. */
  const ended = ({ uid, step }: ClaimedDelivery, reply: Reply, startTimeMs: number, startMs: number): void => {
    const nowMs = performance.now();
    const {
      error,
      nextMs,
      restMs,
      disable: wantsNoMore,
    } = judge(reply, { step, nowMs: clock.nowMs(), retryMs: config.eventsRetryMs, random: Math.random() });
    const latencyMs = Math.round(nowMs - startMs);
    const isDelivered = error === "";
    pace.ended({ isDelivered, startMs, nowMs, restMs });
    if (!reply.isInterrupted) note({ isDelivered, status: reply.status, error, latencyMs });
    if (wantsNoMore !== undefined) {
      disable = wantsNoMore;
      isStopping = true;
    }
    if (outcomes.length === 0) oldestOutcomeMs = nowMs;
    outcomes.push({
      uid,
      startMs: startTimeMs,
      latencyMs,
      status: reply.status,
      error,
      ...(nextMs !== undefined && { nextMs }),
    });
  };

  const claim = async (): Promise<void> => {
    const beforeMs = performance.now();
    const limit = isStopping ? 0 : Math.max(0, pace.batch() - waiting.length);
    const answer = await queue.claim({ subscription, holdMs: useMs + CLOCK_MARGIN_MS, limit });
    if (!answer.held) {
      mayClaim = false;
      isStopping = true;
      return;
    }
    leaseEndMs = beforeMs + useMs;
    waiting.push(...answer.deliveries);
    if (limit > 0) mayClaim = answer.deliveries.length >= limit;
    await prepare(answer.target);
  };

  /** Finds out how to send to the target, and whether it wants to be sent to. */
  const prepare = async (target: DeliveryTarget): Promise<void> => {
    if (waiting.length === 0) return;
    const secrets = target.secrets.join(" ");
    if (recipient?.secrets !== secrets) {
      const keys = target.secrets.map((sealed) =>
        signingKey(deps.secrets.open(sealed, subscriptionPlace(subscription))),
      );
      recipient = { secrets, group: target.group, keys };
    }
    sink ??= await sinkOf(target);
    if (handshake !== undefined) return;
    const nowMs = clock.nowMs();
    if (target.handshakeMs !== undefined && nowMs - target.handshakeMs < HANDSHAKE_EVERY_MS) {
      pace.allow(target.allowedRate, performance.now(), false);
      return;
    }
    const startMs = performance.now();
    const answer = await askSink(sink, new URL(config.baseUrl).hostname);
    if (answer.kind === "allowed") {
      handshake = { atMs: nowMs, allowedRate: answer.ratePerMinute };
      pace.allow(answer.ratePerMinute, performance.now(), target.handshakeMs === undefined);
    } else if (answer.kind === "refused") {
      disable = answer.reason;
      isStopping = true;
    } else {
      const first = waiting.shift();
      if (first !== undefined) ended(first, { status: 0, error: `handshake: ${answer.error}` }, nowMs, startMs);
      isStopping = true;
    }
  };

  const record = async (isLast: boolean): Promise<void> => {
    const told = outcomes;
    outcomes = [];
    const asked = handshake;
    const rest = isLast
      ? { unsent: waiting.map(({ uid }) => uid), release: true, ...(disable !== undefined && { disable }) }
      : {};
    try {
      const held = await queue.record({
        subscription,
        outcomes: told,
        ...rest,
        ...(asked && !isHandshakeTold && { handshake: asked }),
      });
      if (asked) isHandshakeTold = true;
      if (!held) isStopping = true;
    } catch (error) {
      outcomes = [...told, ...outcomes];
      throw error;
    }
  };

  const run = async (): Promise<void> => {
    for (;;) {
      const waitMs = fill();
      const nowMs = performance.now();
      if (pace.readyInMs(nowMs) > LONGEST_WAIT_MS) isStopping = true;
      if (nowMs - startedMs > (deps.isCrowded() ? TURN_MS : LONGEST_TURN_MS)) isStopping = true;
      const wantsMore = !isStopping && mayClaim && waiting.length < Math.min(pace.concurrency(), pace.batch());
      // Half of the time of a try is left for the database to answer.
      const needsLease =
        underWay + waiting.length > 0 && !isStopping && nowMs + 1.5 * config.eventsTimeoutMs > leaseEndMs;
      const gatherMs =
        outcomes.length === 0
          ? undefined
          : outcomes.length >= GATHER_MOST
            ? 0
            : Math.max(0, oldestOutcomeMs + GATHER_MS - nowMs);
      if (underWay === 0 && !wantsMore && (isStopping || waiting.length === 0)) return;
      // What is not written when the lease ends counts as interrupted: it is written before the lease is taken again.
      if (gatherMs === 0 || (gatherMs !== undefined && nowMs > leaseEndMs)) await record(false);
      else if (wantsMore || needsLease) await claim();
      else {
        const timers = [
          gatherMs,
          waitMs,
          waiting.length + underWay > 0 ? leaseEndMs - 1.5 * config.eventsTimeoutMs - nowMs : undefined,
        ];
        const soonest = Math.max(1, Math.min(...timers.filter((timer) => timer !== undefined)));
        await changes(Number.isFinite(soonest) ? soonest : useMs);
      }
    }
  };

  /** The work, done again when the database fails: what was sent must be written. */
  const turn = async (): Promise<void> => {
    let failures = 0;
    let isOver = false;
    for (;;) {
      try {
        if (!isOver) await run();
        isOver = true;
        await record(true);
        return;
      } catch (error) {
        failures += 1;
        log.warn({ err: error, subscription }, "the queue of events failed");
        const isNothingLeft = outcomes.length === 0 && waiting.length === 0;
        if (isOver && (isClosing || isNothingLeft) && failures >= LAST_WRITES) return;
        // Nothing new is begun by a turn that failed, and the next one has time.
        isStopping = true;
        const nowMs = performance.now();
        pace.ended({ isDelivered: false, startMs: nowMs, nowMs });
        await changes(Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10)));
      }
    }
  };
  return {
    more() {
      mayClaim = true;
      change();
    },
    stop() {
      isClosing = true;
      isStopping = true;
      change();
    },
    done: turn(),
  };
}
