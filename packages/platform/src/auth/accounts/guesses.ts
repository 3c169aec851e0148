import { createLru } from "@moorage/kernel/lib/lru";
import { networkOf } from "@moorage/kernel/lib/network";

/** An attempt at a password or a code. */
interface Guess {
  /** What the account is counted by: the same text for one that is not there as for one that is. */
  account: string;
  address: string;
  /** A name of the browser, where the person has signed in with this account in it before. */
  knownBrowser: string | undefined;
  /** Whether the person has signed in from this network before. */
  isKnownNetwork: boolean;
  nowMs: number;
}

/**
 * Limits guesses in this process, so that nobody who guesses shuts out the person whose account it is: who guesses from
 * elsewhere uses up the attempts of strangers, not those of networks and browsers that the person has signed in from.
 */
export interface AccountGuesses {
  /**
   * Counts a guess before it is looked at, so that concurrent ones are counted too. Undefined when there were too many;
   * otherwise a function that takes the guess back because it was right.
   */
  begin(guess: Guess): (() => void) | undefined;
}

const WINDOW_MS = 600_000;
const DAY_MS = 86_400_000;

interface Limit {
  max: number;
  windowMs: number;
}
/** Of one account from one network, or from one browser that the person has used. */
const PAIR: Limit = { max: 10, windowMs: WINDOW_MS };
/** Of one network, whatever the account: an office has many people. */
const NETWORK: Limit = { max: 50, windowMs: WINDOW_MS };
/** Of one account from all networks that the person has not signed in from. */
const STRANGERS: Limit = { max: 20, windowMs: WINDOW_MS };
/** Source: NIST SP 800-63B-4 §3.2.2, which allows a hundred. */
const STRANGERS_A_DAY: Limit = { max: 100, windowMs: DAY_MS };

// More than can be guessed in a window: each guess takes a tenth of a second of a processor.
const MAX_COUNTS = 100_000;

interface Count {
  n: number;
  sinceMs: number;
}

export function createAccountGuesses(): AccountGuesses {
  const counts = createLru<string, Count>(MAX_COUNTS);
  const current = (key: string, windowMs: number, nowMs: number): Count => {
    const count = counts.get(key);
    return count !== undefined && Math.abs(nowMs - count.sinceMs) < windowMs ? count : { n: 0, sinceMs: nowMs };
  };
  return {
    begin({ account, address, knownBrowser, isKnownNetwork, nowMs }) {
      const network = networkOf(address);
      const limits: [string, Limit][] =
        knownBrowser !== undefined
          ? [[`browser ${account} ${knownBrowser}`, PAIR]]
          : [
              [`pair ${account} ${network}`, PAIR],
              [`network ${network}`, NETWORK],
              ...(isKnownNetwork
                ? []
                : ([
                    [`strangers ${account}`, STRANGERS],
                    [`day ${account}`, STRANGERS_A_DAY],
                  ] satisfies [string, Limit][])),
            ];
      const found = limits.map(([key, limit]) => ({ key, limit, count: current(key, limit.windowMs, nowMs) }));
      if (found.some(({ limit, count }) => count.n >= limit.max)) return undefined;
      for (const { key, count } of found) counts.set(key, { ...count, n: count.n + 1 });
      return () => {
        for (const { key, limit } of found) {
          const count = current(key, limit.windowMs, nowMs);
          if (count.n > 0) counts.set(key, { ...count, n: count.n - 1 });
        }
      };
    },
  };
}
