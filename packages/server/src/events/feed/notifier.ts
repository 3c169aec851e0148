import { type Database, statement } from "../../store/index.ts";

/** Notifies waiting streams of new events, with one query for all of them. */
export interface Notifier {
  /**
   * Waits until the organization has an event after that number, at most `timeoutMs`. Returns a number, at least `seq`,
   * up to which the organization has no new event. Throws the signal's reason when it is aborted, and the error when
   * the database cannot be read.
   */
  after(organization: string, seq: number, timeoutMs: number, signal: AbortSignal): Promise<number>;
}

interface Waiter {
  seq: number;
  wake(seq: number): void;
  fail(error: unknown): void;
}

const POLL_MS = 250;
const MAX_EVENTS = 1_000;

const selectNew = statement<{ seq: number; organization: string }>(
  "select seq, organization from events where seq > ? order by seq limit ?",
);
const known = new WeakMap<Database, Notifier>();

/** The notifier of the database, one per process. */
export function notifierOf(db: Database): Notifier {
  const notifier = known.get(db) ?? createNotifier(db);
  known.set(db, notifier);
  return notifier;
}

/** Creates a notifier that queries the database every `pollMs` milliseconds while there are waiting streams. */
export function createNotifier(db: Database, pollMs: number = POLL_MS): Notifier {
  const waiting = new Map<string, Set<Waiter>>();
  /** Events up to this number have been seen. Undefined while nothing waits. */
  let seen: number | undefined;

  const look = async (from: number): Promise<void> => {
    try {
      const rows = await selectNew(db, from, MAX_EVENTS);
      seen = from;
      for (const { seq, organization } of rows) {
        for (const waiter of waiting.get(organization) ?? []) if (seq > waiter.seq) waiter.wake(seq - 1);
        seen = seq;
      }
      if (waiting.size === 0) seen = undefined;
      else setTimeout(look, rows.length < MAX_EVENTS ? pollMs : 0, seen).unref();
    } catch (error) {
      seen = undefined;
      for (const waiter of [...waiting.values()].flatMap((some) => [...some])) waiter.fail(error);
    }
  };

  return {
    async after(organization, seq, timeoutMs, signal) {
      signal.throwIfAborted();
      // Events between `seq` and `seen` were not reported to this waiter.
      if (seen !== undefined && seen > seq) return seq;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const waiter: Waiter = { seq, wake: resolve, fail: reject };
      const abort = (): void => reject(signal.reason);
      const timer = setTimeout(() => resolve(Math.max(seen ?? seq, seq)), timeoutMs);
      signal.addEventListener("abort", abort, { once: true });
      const others = waiting.get(organization) ?? new Set();
      waiting.set(organization, others.add(waiter));
      if (seen === undefined) {
        seen = seq;
        void look(seq);
      }
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        others.delete(waiter);
        if (others.size === 0 && waiting.get(organization) === others) waiting.delete(organization);
      }
    },
  };
}
