import { Code, MoorageError } from "../errors.ts";

/** How many streams there are at the same time. */
export interface Slots {
  /**
   * The messages, while the identity has a slot. It is free again when they end, or the signal is given. Throws
   * RESOURCE_EXHAUSTED when there is none.
   */
  held<T>(identity: string, signal: AbortSignal, messages: AsyncIterable<T>): AsyncIterable<T>;
}

const MAX_STREAMS = 1_000;
const MAX_OF_AN_IDENTITY = 50;

/** Of this process alone: of several processes and replicas each has its own. */
export function createSlots(
  most: { all: number; identity: number } = { all: MAX_STREAMS, identity: MAX_OF_AN_IDENTITY },
): Slots {
  const open = new Map<string, number>();
  let all = 0;
  return {
    async *held(identity, signal, messages) {
      signal.throwIfAborted();
      const own = open.get(identity) ?? 0;
      if (all >= most.all) throw tooMany("there are");
      if (own >= most.identity) throw tooMany("this identity has");
      all += 1;
      open.set(identity, own + 1);
      let isHeld = true;
      const free = (): void => {
        if (!isHeld) return;
        isHeld = false;
        signal.removeEventListener("abort", free);
        all -= 1;
        const left = (open.get(identity) ?? 1) - 1;
        if (left === 0) open.delete(identity);
        else open.set(identity, left);
      };
      // Whoever left may never ask for another message, nor end this.
      signal.addEventListener("abort", free, { once: true });
      try {
        yield* messages;
      } finally {
        free();
      }
    },
  };
}

function tooMany(whose: string): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: ${whose} too many streams`, {
    area: "platform",
    retryAfterMs: 1000,
  });
}

export interface Guard {
  /** Ends the messages with its reason. */
  signal: AbortSignal;
  /** Whether the caller may go on. What it throws ends the messages. */
  check(): Promise<void>;
  /** When something is known to end then, it is asked again at that moment. Milliseconds from now. */
  endsInMs?: number;
  /** How often it is asked while nothing is sent, in milliseconds. */
  everyMs?: number;
  /** No message is sent later than this after it was asked, in milliseconds. */
  freshMs?: number;
}

const EVERY_MS = 30_000;
const FRESH_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1_000;
const LATER_MS = 20;

/**
 * The messages, for as long as their caller may have them. Each is made only when it is asked for, so a slow reader
 * holds one.
 */
export async function* guarded<T>(open: (ended: AbortSignal) => AsyncIterable<T>, guard: Guard): AsyncGenerator<T> {
  const { signal, check, endsInMs = Infinity, everyMs = EVERY_MS, freshMs = FRESH_MS } = guard;
  signal.throwIfAborted();
  const ended = new AbortController();
  let checkedMs = performance.now();
  const look = async (): Promise<void> => {
    try {
      await check();
      checkedMs = performance.now();
    } catch (error) {
      end(error);
    }
  };
  const every = setInterval(look, everyMs);
  // A little later: timers and clocks do not agree to the millisecond.
  const last = endsInMs <= LONGEST_TIMER_MS ? setTimeout(look, Math.max(endsInMs, 0) + LATER_MS) : undefined;
  const end = (reason: unknown): void => {
    clearInterval(every);
    clearTimeout(last);
    signal.removeEventListener("abort", abort);
    ended.abort(reason);
  };
  const abort = (): void => end(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const message of open(ended.signal)) {
      if (performance.now() - checkedMs >= freshMs) await look();
      ended.signal.throwIfAborted();
      yield message;
    }
  } finally {
    end(undefined);
  }
}
