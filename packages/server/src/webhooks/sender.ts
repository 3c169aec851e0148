import { type Attempts, createAttempts } from "./attempts.ts";
import type { AttemptLimit } from "./attempt-limit.ts";
import type { DeliveryDeps } from "./context.ts";
import { createDestination, type Destination } from "./destination.ts";
import { createLease, type Lease } from "./lease.ts";
import { createOutcomeRecorder, type OutcomeRecorder } from "./outcomes.ts";
import type { DeliveryQueue } from "./queue.ts";
import { createSignal } from "./signal.ts";
import type { SubscriptionState } from "./subscription-state.ts";

export interface SenderDeps extends Pick<DeliveryDeps, "clock" | "config" | "log" | "metrics" | "secrets" | "tokens"> {
  queue: DeliveryQueue;
  attemptLimit: AttemptLimit;
  /** Whether other subscriptions wait for this one's turn to end. */
  isCrowded(): boolean;
}

/** One turn of sending for a subscription. */
export interface Sender {
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
// A rest that is shorter is waited for; for a longer one the subscription is left.
const LONGEST_WAIT_MS = 100;
const FIRST_BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 5_000;
// How often what happened is written to a database that does not take it, once the server is told to end.
const LAST_WRITES = 3;

/** Sends what is due of the subscription, until nothing is, the sink needs a rest, or others wait. */
export function startSender(subscription: string, state: SubscriptionState, deps: SenderDeps): Sender {
  const turn = new Turn(subscription, state, deps);
  return { more: () => turn.more(), stop: () => turn.stop(), done: turn.run() };
}

class Turn {
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
  /** Nothing more begins. It stays so until the turn ends. */
  #isStopping = false;
  /** The server ends: what cannot be written is given up soon. */
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

  /** The work, done again when the database fails: what was sent must be written. */
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
        // Nothing new is begun by a turn that failed, and the next one has time.
        this.#isStopping = true;
        const nowMs = performance.now();
        this.#state.adaptiveRate.ended({ isDelivered: false, startMs: nowMs, nowMs });
        await this.#signal.wait(Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10)));
      }
    }
  }

  /** Sends until the turn is over: nothing is under way, and nothing more may begin or is left. */
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
      // What is not written when the lease ends counts as interrupted: it is written before the lease is taken again.
      if (writeInMs === 0 || (writeInMs !== undefined && lease.isOver(nowMs))) await this.#write();
      else if (wantsMore || needsLease) await this.#claim();
      else {
        const timers = [writeInMs, readyInMs, renewInMs].filter((timer) => timer !== undefined);
        await this.#signal.wait(timers.length === 0 ? lease.lengthMs : Math.max(1, Math.min(...timers)));
      }
    }
  }

  /** Whether the sink needs a longer rest, or the turn has taken its time. */
  #mustEnd(nowMs: number): boolean {
    if (this.#state.adaptiveRate.readyInMs(nowMs) > LONGEST_WAIT_MS) return true;
    return nowMs - this.#startedMs > (this.#deps.isCrowded() ? TURN_MS : LONGEST_TURN_MS);
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
      // One delivery counts the failure, so that the schedule and the log know of it.
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
