import { type Database, statement } from "@moorage/kernel/store";
import { headOf, isOfHistory, markOf, otherHistory, type Place } from "./history.ts";

/** Notifies waiting streams of new events, with one query for all of them. */
export interface Notifier {
  /**
   * Waits until the organization has an event after that place, at most `timeoutMs`. Returns a place, at or after it,
   * up to which the organization has no new event. Throws the signal's reason when it is aborted, CURSOR_EXPIRED when
   * the database was replaced by an older copy of itself, and the error when it cannot be read.
   */
  after(organization: string, at: Place, timeoutMs: number, signal: AbortSignal): Promise<Place>;
}

interface Waiter {
  seq: number;
  wake(at: Place): void;
  fail(error: unknown): void;
}

const POLL_MS = 250;
const MAX_EVENTS = 1_000;

// From the place itself on, so that another history is noticed with the same query.
const selectNew = statement<{ seq: number; id: string; organization: string }>(
  "select seq, id, organization from events where seq >= ? order by seq limit ?",
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
  let seen: Place | undefined;

  const look = async (from: Place): Promise<void> => {
    try {
      const rows = await selectNew(db, from.seq, MAX_EVENTS);
      if (rows[0]?.seq !== from.seq || markOf(rows[0].id) !== from.mark)
        if (!(await isOfHistory(db, from, await headOf(db)))) throw otherHistory();
      seen = from;
      for (const { seq, id, organization } of rows) {
        if (seq > from.seq)
          for (const waiter of waiting.get(organization) ?? []) if (seq > waiter.seq) waiter.wake(seen);
        seen = { seq, mark: markOf(id) };
      }
      if (waiting.size === 0) seen = undefined;
      else setTimeout(look, rows.length < MAX_EVENTS ? pollMs : 0, seen).unref();
    } catch (error) {
      seen = undefined;
      for (const waiter of [...waiting.values()].flatMap((some) => [...some])) waiter.fail(error);
    }
  };

  return {
    async after(organization, { seq, mark }, timeoutMs, signal) {
      signal.throwIfAborted();
      const at = { seq, mark };
      // Events between `seq` and `seen` were not reported to this waiter.
      if (seen !== undefined && seen.seq > seq) return at;
      const { promise, resolve, reject } = Promise.withResolvers<Place>();
      const waiter: Waiter = { seq, wake: resolve, fail: reject };
      const abort = (): void => reject(signal.reason);
      const timer = setTimeout(() => resolve(seen !== undefined && seen.seq > seq ? seen : at), timeoutMs);
      signal.addEventListener("abort", abort, { once: true });
      const others = waiting.get(organization) ?? new Set();
      waiting.set(organization, others.add(waiter));
      if (seen === undefined) {
        seen = at;
        void look(at);
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
