import { createLru } from "../../lib/lru.ts";

/** Counts wrong user codes in this process: per address and in total, within ten minutes. */
export interface Guesses {
  /** Whether the address may enter another code. */
  mayGuess(address: string, nowMs: number): boolean;
  failed(address: string, nowMs: number): void;
}

const WINDOW_MS = 600_000;
const MAX_PER_ADDRESS = 10;
const MAX_IN_ALL = 1000;
const MAX_ADDRESSES = 10_000;

interface Count {
  n: number;
  sinceMs: number;
}

/** Source: RFC 8628 §5.1. */
export function createGuesses(): Guesses {
  const byAddress = createLru<string, Count>(MAX_ADDRESSES);
  let all: Count = { n: 0, sinceMs: 0 };
  const current = (count: Count | undefined, nowMs: number): Count =>
    count !== undefined && Math.abs(nowMs - count.sinceMs) < WINDOW_MS ? count : { n: 0, sinceMs: nowMs };
  return {
    mayGuess: (address, nowMs) =>
      current(all, nowMs).n < MAX_IN_ALL && current(byAddress.get(address), nowMs).n < MAX_PER_ADDRESS,
    failed(address, nowMs) {
      const [own, total] = [current(byAddress.get(address), nowMs), current(all, nowMs)];
      byAddress.set(address, { ...own, n: own.n + 1 });
      all = { ...total, n: total.n + 1 };
    },
  };
}
