import { Code, MoorageError } from "@moorage/kernel/errors";

/** Limits the number of concurrent streams. */
export interface Slots {
  /**
   * Yields the messages while the identity holds a slot, which is freed when they end or the signal is aborted. Throws
   * RESOURCE_EXHAUSTED when no slot is free.
   */
  held<T>(identity: string, signal: AbortSignal, messages: AsyncIterable<T>): AsyncIterable<T>;
}

const MAX_STREAMS = 1_000;
const MAX_OF_AN_IDENTITY = 50;

/** The slots of this process alone: each process and replica has its own. */
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
      // A caller that has disconnected may neither ask for another message nor end the generator.
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
  /** Ends the messages with its reason when aborted. */
  signal: AbortSignal;
  /** Checks whether the caller may continue. An error that it throws ends the messages. */
  check(): Promise<void>;
  /** When the caller's token is known to expire, so that the check runs at that moment. Milliseconds from now. */
  endsInMs?: number;
  /** How often the check runs while nothing is sent, in milliseconds. */
  everyMs?: number;
  /** The longest time between the last check and a message that is sent, in milliseconds. */
  freshMs?: number;
}

const EVERY_MS = 30_000;
const FRESH_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1_000;
const LATER_MS = 20;

/**
 * Yields the messages while their caller may receive them. Each is made only when it is asked for, so a slow reader
 * holds only one.
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
  // A little later, because timers and clocks differ by some milliseconds.
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
