import type { Clock } from "../../lib/clock.ts";
import { createLru } from "../../lib/lru.ts";
import { createRateLimiter, type RateLimit } from "../../lib/rate-limit.ts";
import { Code, MoorageError } from "../../errors.ts";

/**
 * Lets requests in as the rate limits say: by the client's address before anything else, by identity once it is known.
 */
export interface Admission {
  /** Counts a request from the address. Answers what it is refused with. `door`: for the count of refusals. */
  address(door: string, address: string): MoorageError | undefined;
  /** What a door counts its callers with: see `admit` in RequestData. */
  callers(door: string): (identity: string) => void;
  /**
   * Counts the request once more, because the credentials it showed were not good: who guesses makes the server verify
   * signatures, look identities up and fetch issuers' keys, and no honest client does so often.
   */
  failed(address: string): void;
}

export interface AdmissionOptions {
  /** Undefined: as many as come. */
  identity: RateLimit | undefined;
  address: RateLimit | undefined;
  clock: Clock;
  /** Told of each request that is refused. */
  limited(door: string, kind: "identity" | "address"): void;
}

// Some 200 bytes each.
const MAX_ADDRESSES = 50_000;
const MAX_IDENTITIES = 50_000;
const MAX_NETWORKS = 10_000;

/** Buckets of this process alone: of several processes and replicas each has its own. Undefined: there is no limit. */
export function createAdmission({ identity, address, clock, limited }: AdmissionOptions): Admission | undefined {
  if (identity === undefined && address === undefined) return undefined;
  const addresses = address && createRateLimiter(address, MAX_ADDRESSES);
  const identities = identity && createRateLimiter(identity, MAX_IDENTITIES);
  const handlers = new Map<string, (identity: string) => void>();
  // To read an IPv6 address takes a microsecond, to look it up a tenth.
  const networks = createLru<string, string>(MAX_NETWORKS);
  const keyOf = (from: string): string => {
    if (!from.includes(":")) return from;
    const known = networks.get(from);
    if (known !== undefined) return known;
    const network = networkOf(from);
    networks.set(from, network);
    return network;
  };
  return {
    address(door, from) {
      const waitMs = addresses?.take(keyOf(from), clock.nowMs()) ?? 0;
      if (waitMs === 0) return undefined;
      limited(door, "address");
      return tooMany("this address", waitMs);
    },
    callers(door) {
      const known = handlers.get(door);
      if (known !== undefined) return known;
      const admit = (caller: string): void => {
        // Nobody's requests are counted by their address alone.
        const waitMs = caller === "" ? 0 : (identities?.take(caller, clock.nowMs()) ?? 0);
        if (waitMs === 0) return;
        limited(door, "identity");
        throw tooMany("this identity", waitMs);
      };
      handlers.set(door, admit);
      return admit;
    },
    failed: (from) => addresses?.charge(keyOf(from), clock.nowMs()),
  };
}

function tooMany(whose: string, waitMs: number): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: too many requests of ${whose}`, {
    area: "platform",
    retryAfterMs: Math.ceil(waitMs),
  });
}

/**
 * What is counted as one client: an IPv4 address; of IPv6 the first 64 bits, of which a single customer has at least
 * all that follow. Source: RFC 6177 §2.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length);
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  if (tail !== undefined && groups.length < 4) {
    const last = tail === "" ? [] : tail.split(":");
    const all = last.length + (tail.includes(".") ? 1 : 0);
    if (head === "") groups.pop();
    for (let zeros = 8 - groups.length - all; zeros > 0 && groups.length < 4; zeros--) groups.push("0");
    groups.push(...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
