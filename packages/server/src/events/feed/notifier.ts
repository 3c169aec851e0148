import { type Database, statement } from "../../store/index.ts";

/** Tells those who wait when there is something new, by one look at the database for all of them. */
export interface News {
  /**
   * Waits until the organization has an event after that number, at most `timeoutMs`. Answers a number, not below it,
   * up to which there is none. Throws the signal's reason once it is given, and what went wrong when the database
   * cannot be read.
   */
  after(organization: string, seq: number, timeoutMs: number, signal: AbortSignal): Promise<number>;
}

interface Waiter {
  seq: number;
  wake(seq: number): void;
  fail(error: unknown): void;
}

const POLL_MS = 250;
const MOST_AT_ONCE = 1_000;

const selectNew = statement<{ seq: number; organization: string }>(
  "select seq, organization from events where seq > ? order by seq limit ?",
);
const known = new WeakMap<Database, News>();

/** The news of the database, the same for all of the process. */
export function newsOf(db: Database): News {
  const news = known.get(db) ?? createNews(db);
  known.set(db, news);
  return news;
}

/** The database is looked at every `pollMs` milliseconds while somebody waits. */
export function createNews(db: Database, pollMs: number = POLL_MS): News {
  const waiting = new Map<string, Set<Waiter>>();
  /** All up to here has been looked at. Undefined: nobody looks. */
  let seen: number | undefined;

  const look = async (from: number): Promise<void> => {
    try {
      const rows = await selectNew(db, from, MOST_AT_ONCE);
      seen = from;
      for (const { seq, organization } of rows) {
        for (const waiter of waiting.get(organization) ?? []) if (seq > waiter.seq) waiter.wake(seq - 1);
        seen = seq;
      }
      if (waiting.size === 0) seen = undefined;
      else setTimeout(look, rows.length < MOST_AT_ONCE ? pollMs : 0, seen).unref();
    } catch (error) {
      seen = undefined;
      for (const waiter of [...waiting.values()].flatMap((some) => [...some])) waiter.fail(error);
    }
  };

  return {
    async after(organization, seq, timeoutMs, signal) {
      signal.throwIfAborted();
      // What has passed in between was not looked at for this one.
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
