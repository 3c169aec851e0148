import type { Clock } from "@moorage/kernel/lib/clock";
import { createLru } from "@moorage/kernel/lib/lru";
import { networkOf } from "@moorage/kernel/lib/network";
import { createRateLimiter, type RateLimit } from "@moorage/kernel/lib/rate-limit";
import { Code, MoorageError } from "@moorage/kernel/errors";

/**
 * Applies the rate limits: by the client's address before anything else, by identity once that is known. Pulls with
 * credentials are not counted: under load they wait in a queue (transport/http/pull-turns.ts).
 */
export interface Admission {
  /**
   * Counts a request from the address. Returns the rejection where there were too many, otherwise undefined. `handler`
   * is a label of the metric of rejections.
   */
  address(handler: string, address: string): MoorageError | undefined;
  /** The function by which a handler counts its callers: see `admit` in RequestData. */
  callers(handler: string): (identity: string) => void;
  /**
   * Of a pull with credentials. Returns the rejection where too many others from the address were not valid; counts
   * nothing.
   */
  guessing(handler: string, address: string): MoorageError | undefined;
  /** As `callers` for pulls: counts those of anonymous callers, at their address. */
  pullers(handler: string, address: string): (identity: string) => void;
  /**
   * Counts a request twice, because its credentials were not valid. Guessing credentials makes the server verify
   * signatures, look up identities and fetch issuers' keys, and correct clients rarely do it. `isCounted`: it was
   * counted once already.
   */
  failed(address: string, isCounted: boolean): void;
}

export interface AdmissionOptions {
  /** Undefined when requests of an identity are not limited. */
  identity: RateLimit | undefined;
  address: RateLimit | undefined;
  clock: Pick<Clock, "monotonicMs">;
  /** Called for each request that is rejected. */
  limited(handler: string, kind: "identity" | "address"): void;
}

// Each entry takes some 200 bytes.
const MAX_ADDRESSES = 50_000;
const MAX_IDENTITIES = 50_000;
const MAX_NETWORKS = 10_000;

/** The rate limits of this process alone: each process and replica counts its own. Undefined when no limit is set. */
export function createAdmission({ identity, address, clock, limited }: AdmissionOptions): Admission | undefined {
  if (identity === undefined && address === undefined) return undefined;
  const addresses = address && createRateLimiter(address, MAX_ADDRESSES);
  // Pulls are not counted by their address, and yet who guesses is stopped: by half the limit, since they count twice.
  const guesses = address && createRateLimiter(halfOf(address), MAX_ADDRESSES);
  const identities = identity && createRateLimiter(identity, MAX_IDENTITIES);
  const admitters = new Map<string, (identity: string) => void>();
  // Reading an IPv6 address takes a microsecond, looking it up a tenth of that.
  const networks = createLru<string, string>(MAX_NETWORKS);
  const keyOf = (from: string): string => {
    if (!from.includes(":")) return from;
    const known = networks.get(from);
    if (known !== undefined) return known;
    const network = networkOf(from);
    networks.set(from, network);
    return network;
  };
  const rejected = (handler: string, waitMs: number): MoorageError | undefined => {
    if (waitMs === 0) return undefined;
    limited(handler, "address");
    return tooMany("this address", waitMs);
  };
  const countAddress = (handler: string, from: string): MoorageError | undefined =>
    rejected(handler, addresses?.take(keyOf(from), clock.monotonicMs()) ?? 0);
  return {
    address: countAddress,
    guessing: (handler, from) => rejected(handler, guesses?.waitMs(keyOf(from), clock.monotonicMs()) ?? 0),
    pullers: (handler, from) => (caller) => {
      const rejection = caller === "" ? countAddress(handler, from) : undefined;
      if (rejection !== undefined) throw rejection;
    },
    callers(handler) {
      const known = admitters.get(handler);
      if (known !== undefined) return known;
      const admit = (caller: string): void => {
        // Anonymous requests are counted by their address alone.
        const waitMs = caller === "" ? 0 : (identities?.take(caller, clock.monotonicMs()) ?? 0);
        if (waitMs === 0) return;
        limited(handler, "identity");
        throw tooMany("this identity", waitMs);
      };
      admitters.set(handler, admit);
      return admit;
    },
    failed(from, isCounted) {
      const [key, nowMs] = [keyOf(from), clock.monotonicMs()];
      guesses?.charge(key, nowMs);
      addresses?.charge(key, nowMs);
      if (!isCounted) addresses?.charge(key, nowMs);
    },
  };
}

function halfOf({ perSecond, burst }: RateLimit): RateLimit {
  return { perSecond: perSecond / 2, burst: Math.max(1, Math.floor(burst / 2)) };
}

function tooMany(whose: string, waitMs: number): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: too many requests of ${whose}`, {
    area: "platform",
    retryAfterMs: Math.ceil(waitMs),
  });
}
