import { createLru } from "@moorage/kernel/lib/lru";
import { networkOf } from "@moorage/kernel/lib/network";

/**
 * Counts wrong guesses in this process, by network: an IPv4 address, or the /64 of an IPv6 address. A network may guess
 * wrongly ten times within ten minutes; three times while there were a thousand wrong guesses in all. Whoever types a
 * code correctly is never shut out by the guesses of others.
 */
export interface Guesses {
  /** Whether the address may enter another code. */
  mayGuess(address: string, nowMs: number): boolean;
  failed(address: string, nowMs: number): void;
}

const WINDOW_MS = 600_000;
const MAX_PER_NETWORK = 10;
const MANY = 1000;
const MAX_PER_NETWORK_OF_MANY = 3;
const MAX_NETWORKS = 10_000;

interface Count {
  n: number;
  sinceMs: number;
}

/** Source: RFC 8628 §5.1. */
export function createGuesses(): Guesses {
  const byNetwork = createLru<string, Count>(MAX_NETWORKS);
  let all: Count = { n: 0, sinceMs: 0 };
  const current = (count: Count | undefined, nowMs: number): Count =>
    count !== undefined && Math.abs(nowMs - count.sinceMs) < WINDOW_MS ? count : { n: 0, sinceMs: nowMs };
  return {
    mayGuess: (address, nowMs) =>
      current(byNetwork.get(networkOf(address)), nowMs).n <
      (current(all, nowMs).n < MANY ? MAX_PER_NETWORK : MAX_PER_NETWORK_OF_MANY),
    failed(address, nowMs) {
      const network = networkOf(address);
      const [own, total] = [current(byNetwork.get(network), nowMs), current(all, nowMs)];
      byNetwork.set(network, { ...own, n: own.n + 1 });
      all = { ...total, n: total.n + 1 };
    },
  };
}
