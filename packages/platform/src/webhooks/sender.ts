import { type Attempts, createAttempts } from "./attempts.ts";
import type { AttemptLimit } from "./attempt-limit.ts";
import type { DeliveryDeps } from "./context.ts";
import { createDestination, type Destination } from "./destination.ts";
import { createLease, type Lease } from "./lease.ts";
import { createOutcomeRecorder, type OutcomeRecorder } from "./outcomes.ts";
import type { DeliveryQueue } from "./queue.ts";
import { createSignal } from "./signal.ts";
import type { SubscriptionState } from "./subscription-state.ts";

export interface SenderDeps extends Pick<
  DeliveryDeps,
  "bodyTypes" | "clock" | "config" | "log" | "metrics" | "secrets" | "tokens"
> {
  queue: DeliveryQueue;
  attemptLimit: AttemptLimit;
  /** Whether other subscriptions wait for a run to end. */
  isCrowded(): boolean;
}

/** A handle on one run of sending for a subscription. */
export interface Sender {
  /** Signals that more deliveries may be due than the last claim found. */
  more(): void;
  /** Begins no more attempts; those under way end and are recorded, and the remaining deliveries are released. */
  stop(): void;
  /** Resolves at the end of the run; never rejects. */
  done: Promise<void>;
}

// The longest run while other subscriptions wait.
const RUN_MS = 2_000;
// The longest run in any case: at its end other processes may take the subscription, and deliveries that are stuck are
// found.
const LONGEST_RUN_MS = 60_000;
// A shorter rest is waited for; a longer one ends the run.
const LONGEST_WAIT_MS = 100;
const FIRST_BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 5_000;
// How often recording outcomes is attempted while the database fails and the server shuts down.
const LAST_WRITES = 3;

/**
 * Sends the due deliveries of the subscription until none is left, the sink needs a rest, or the run's time is over.
 */
export function startSender(subscription: string, state: SubscriptionState, deps: SenderDeps): Sender {
  const run = new SendingRun(subscription, state, deps);
  return { more: () => run.more(), stop: () => run.stop(), done: run.run() };
}

class SendingRun {
  readonly #subscription: string;
  readonly #state: SubscriptionState;
  readonly #deps: SenderDeps;
  readonly #lease: Lease;
  readonly #recorder: OutcomeRecorder;
  readonly #destination: Destination;
  readonly #attempts: Attempts;
  readonly #signal = createSignal();
  readonly #startedMs = performance.now();
  /** Whether the queue may hold more than was claimed. */
  #mayClaim = true;
  /** No more attempts begin; stays true until the run ends. */
  #isStopping = false;
  /** The server shuts down: outcomes that cannot be recorded are soon given up. */
  #isClosing = false;

  constructor(subscription: string, state: SubscriptionState, deps: SenderDeps) {
    const { adaptiveRate } = state;
    const { config, queue } = deps;
    this.#subscription = subscription;
    this.#state = state;
    this.#deps = deps;
    this.#lease = createLease(subscription, queue, config.eventsTimeoutMs);
    this.#recorder = createOutcomeRecorder(subscription, state, { ...deps, retryMs: config.eventsRetryMs });
    this.#destination = createDestination(subscription, state, deps);
    this.#attempts = createAttempts(subscription, {
      ...deps,
      adaptiveRate,
      destination: this.#destination,
      lease: this.#lease,
      recorder: this.#recorder,
      isStopping: () => this.#stops(),
      changed: () => this.#signal.notify(),
    });
  }

  more(): void {
    this.#mayClaim = true;
    this.#signal.notify();
  }

  stop(): void {
    this.#isClosing = true;
    this.#isStopping = true;
    this.#signal.notify();
  }

  /** Runs, and repeats after a database failure, because the outcomes of sent events must be recorded. */
  async run(): Promise<void> {
    let failures = 0;
    let isOver = false;
    for (;;) {
      try {
        if (!isOver) await this.#send();
        isOver = true;
        await this.#recorder.writeLast(this.#attempts.waiting);
        return;
      } catch (error) {
        failures += 1;
        this.#deps.log.warn({ err: error, subscription: this.#subscription }, "the queue of events failed");
        const isNothingLeft = this.#recorder.isEmpty() && this.#attempts.waiting.length === 0;
        if (isOver && (this.#isClosing || isNothingLeft) && failures >= LAST_WRITES) return;
        // A run that failed begins no more attempts, and the adaptive rate delays the next run.
        this.#isStopping = true;
        const nowMs = performance.now();
        this.#state.adaptiveRate.ended({ isDelivered: false, startMs: nowMs, nowMs });
        await this.#signal.wait(Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10)));
      }
    }
  }

  /** Sends until no attempt is under way and none may begin or none is left. */
  async #send(): Promise<void> {
    const [lease, recorder, attempts] = [this.#lease, this.#recorder, this.#attempts];
    for (;;) {
      const readyInMs = attempts.begin();
      const nowMs = performance.now();
      if (this.#mustEnd(nowMs)) this.#isStopping = true;
      const wantsMore = this.#wantsMore();
      const underWay = attempts.underWay();
      if (underWay === 0 && !wantsMore && (this.#stops() || attempts.waiting.length === 0)) return;
      const isAtWork = underWay + attempts.waiting.length > 0;
      const renewInMs = isAtWork ? lease.renewInMs(nowMs) : undefined;
      const needsLease = renewInMs !== undefined && renewInMs < 0 && !this.#stops();
      const writeInMs = recorder.dueInMs(nowMs);
      // Attempts not recorded when the lease ends count as interrupted, so they are recorded before the lease is
      // renewed.
      if (writeInMs === 0 || (writeInMs !== undefined && lease.isOver(nowMs))) await this.#write();
      else if (wantsMore || needsLease) await this.#claim();
      else {
        const timers = [writeInMs, readyInMs, renewInMs].filter((timer) => timer !== undefined);
        await this.#signal.wait(timers.length === 0 ? lease.lengthMs : Math.max(1, Math.min(...timers)));
      }
    }
  }

  /** Whether the sink needs a longer rest, or the time of the run is over. */
  #mustEnd(nowMs: number): boolean {
    if (this.#state.adaptiveRate.readyInMs(nowMs) > LONGEST_WAIT_MS) return true;
    return nowMs - this.#startedMs > (this.#deps.isCrowded() ? RUN_MS : LONGEST_RUN_MS);
  }

  #stops(): boolean {
    return this.#isStopping || this.#recorder.isDisabled();
  }

  #wantsMore(): boolean {
    if (this.#stops() || !this.#mayClaim) return false;
    const { adaptiveRate } = this.#state;
    return this.#attempts.waiting.length < Math.min(adaptiveRate.concurrency(), adaptiveRate.batch());
  }

  async #claim(): Promise<void> {
    const { waiting } = this.#attempts;
    const limit = this.#stops() ? 0 : Math.max(0, this.#state.adaptiveRate.batch() - waiting.length);
    const answer = await this.#lease.claim(limit);
    if (!answer.held) {
      this.#mayClaim = false;
      this.#isStopping = true;
      return;
    }
    waiting.push(...answer.deliveries);
    if (limit > 0) this.#mayClaim = answer.deliveries.length >= limit;
    if (waiting.length === 0) return;
    const readiness = await this.#destination.prepare(answer.target);
    if (readiness.kind === "ready") {
      if (readiness.handshake !== undefined) this.#recorder.allowed(readiness.handshake);
    } else if (readiness.kind === "rejected") this.#recorder.disable(readiness.reason);
    else {
      // The failure is recorded with one delivery, so that its schedule and the log have it.
      const first = waiting.shift();
      if (first !== undefined)
        this.#recorder.ended(first, { status: 0, error: `handshake: ${readiness.error}` }, readiness.start);
      this.#isStopping = true;
    }
  }

  async #write(): Promise<void> {
    if (!(await this.#recorder.write())) this.#isStopping = true;
  }
}
