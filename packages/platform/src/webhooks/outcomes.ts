import type { ClaimedDelivery, Outcome, RecordRequest } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import type { DeliveryQueue } from "./queue.ts";
import { judge, type Reply } from "./retry.ts";
import type { SubscriptionState } from "./subscription-state.ts";

/** When an attempt began, by both clocks. */
export interface Start {
  /** Milliseconds since 1970, for the record of the attempt. */
  timeMs: number;
  /** Milliseconds of the monotonic clock, for durations. */
  ms: number;
}

/** Collects the outcomes of one run of sending for a subscription, and writes them to the database in batches. */
export interface OutcomeRecorder {
  /** Judges an attempt that ended, reports it to the adaptive rate, and queues its outcome for writing. */
  ended(delivery: ClaimedDelivery, reply: Reply, start: Start): void;
  /** Records that the sink was asked by the handshake and allows events. */
  allowed(handshake: NonNullable<RecordRequest["handshake"]>): void;
  /** Disables the subscription when the run ends, because the sink wants no more events. */
  disable(reason: string): void;
  isDisabled(): boolean;
  /** Whether no outcomes wait to be written. */
  isEmpty(): boolean;
  /** In how many milliseconds the collected outcomes are to be written; undefined when there are none. */
  dueInMs(nowMs: number): number | undefined;
  /**
   * Writes the collected outcomes. False when this process no longer holds the subscription: then nothing was written.
   * Rejects when the database fails; the outcomes remain queued.
   */
  write(): Promise<boolean>;
  /** Writes the collected outcomes, releases the deliveries that were not sent, and ends the lease. */
  writeLast(unsent: readonly ClaimedDelivery[]): Promise<boolean>;
}

export interface OutcomeRecorderDeps extends Pick<DeliveryDeps, "clock"> {
  queue: Pick<DeliveryQueue, "record">;
  /** The delay after each failed attempt, in milliseconds. */
  retryMs: readonly number[];
}

// Outcomes are collected for this long, or until there are this many, because each write costs a commit.
const GATHER_MS = 20;
const GATHER_MOST = 64;

export function createOutcomeRecorder(
  subscription: string,
  { adaptiveRate, note }: Pick<SubscriptionState, "adaptiveRate" | "note">,
  { clock, queue, retryMs }: OutcomeRecorderDeps,
): OutcomeRecorder {
  let outcomes: Outcome[] = [];
  let oldestMs = 0;
  let disabled: string | undefined;
  let handshake: RecordRequest["handshake"];
  let isHandshakeWritten = false;

  const write = async (last: Pick<RecordRequest, "unsent" | "release" | "disable">): Promise<boolean> => {
    const written = outcomes;
    outcomes = [];
    const asked = handshake;
    try {
      const held = await queue.record({
        subscription,
        outcomes: written,
        ...last,
        ...(asked && !isHandshakeWritten && { handshake: asked }),
      });
      if (asked) isHandshakeWritten = true;
      return held;
    } catch (error) {
      outcomes = [...written, ...outcomes];
      throw error;
    }
  };

  return {
    ended({ uid, step, event }, reply, start) {
      const nowMs = performance.now();
      const verdict = judge(reply, {
        step,
        nowMs: clock.nowMs(),
        agreedMs: clock.agreedMs(),
        retryMs,
        random: Math.random(),
      });
      const { error, nextMs, restMs } = verdict;
      const latencyMs = Math.round(nowMs - start.ms);
      const isDelivered = error === "";
      adaptiveRate.ended({ isDelivered, startMs: start.ms, nowMs, restMs });
      if (!reply.isInterrupted) note({ isDelivered, status: reply.status, error, latencyMs });
      if (verdict.disable !== undefined) disabled = verdict.disable;
      if (outcomes.length === 0) oldestMs = nowMs;
      outcomes.push({
        uid,
        eventId: event.id,
        startMs: start.timeMs,
        latencyMs,
        status: reply.status,
        error,
        ...(nextMs !== undefined && { nextMs }),
      });
    },
    allowed: (answer) => void (handshake = answer),
    disable: (reason) => void (disabled = reason),
    isDisabled: () => disabled !== undefined,
    isEmpty: () => outcomes.length === 0,
    dueInMs(nowMs) {
      if (outcomes.length === 0) return undefined;
      return outcomes.length >= GATHER_MOST ? 0 : Math.max(0, oldestMs + GATHER_MS - nowMs);
    },
    write: () => write({}),
    writeLast: (unsent) =>
      write({
        unsent: unsent.map(({ uid }) => uid),
        release: true,
        ...(disabled !== undefined && { disable: disabled }),
      }),
  };
}
