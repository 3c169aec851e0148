import { after, attempt, type Awaitable } from "../lib/awaitable.ts";
import { Code, MoorageError } from "../errors.ts";
import type { ChangeKeys, Snapshot } from "../store/index.ts";
import { ANONYMOUS, type Caller } from "./call.ts";
import type { RequestData } from "./http.ts";
import type { CachedResponse, ResponseCache } from "./response-cache.ts";

/**
 * The steps around the work of every request, in every protocol, in this order: `admit`, `cached`, `identify`, then the
 * work, then `keep`. The API's methods use them in runtime/pipeline.ts, the registry's requests in oci/router.ts and
 * oci/request.ts. `A` is the cached form of an answer.
 */
export class RequestSteps<A> {
  readonly #data: RequestData;
  readonly #cache: ResponseCache<A> | undefined;
  #key: string | undefined;
  #nowMs = 0;
  #snapshot: Snapshot | undefined;
  #caller = ANONYMOUS;

  /** Without a cache, `cached` finds nothing and `keep` does nothing. */
  constructor(data: RequestData, cache?: ResponseCache<A>) {
    this.#data = data;
    this.#cache = cache;
  }

  /** Throws the rejection of a request from an address that sent too many. */
  admit(): void {
    if (this.#data.rejection !== undefined) throw this.#data.rejection;
  }

  /**
   * The cached answer to the same request, where it still holds; its caller is counted, and it is the caller's turn.
   * `key` is everything that the answer depends on beside the database and the time; undefined when the answer must not
   * be cached. Throws as `identify`.
   */
  cached(key: string | undefined, nowMs: number): Awaitable<CachedResponse<A> | undefined> {
    this.#key = key;
    this.#nowMs = nowMs;
    if (key === undefined) return undefined;
    const find = (): Awaitable<CachedResponse<A> | undefined> => this.#cache?.get(key, nowMs);
    return after(find(), (known) => {
      if (known === undefined) return undefined;
      this.#data.admit?.(known.caller.identity);
      const waited = this.#data.turn?.begin(organizationOf(known.caller));
      // What was cached may have changed meanwhile.
      return waited instanceof Promise ? waited.then(find) : known;
    });
  }

  /**
   * Authenticates the caller with `authenticate`, counts its request and waits for its organization's turn. Throws
   * RESOURCE_EXHAUSTED when the caller sent too many requests, UNAVAILABLE when too many wait, and the errors of
   * `authenticate`.
   */
  identify(authenticate: () => Awaitable<Caller>): Awaitable<Caller> {
    return after(this.#key === undefined ? undefined : this.#cache?.snapshot(), (snapshot) => {
      this.#snapshot = snapshot;
      return after(
        attempt(authenticate, (error) => {
          throw this.#data.guessRejection !== undefined && isGuess(error) ? this.#data.guessRejection : error;
        }),
        (caller) => {
          this.#caller = caller;
          if (caller.identity !== "") this.#data.authenticated?.();
          this.#data.admit?.(caller.identity);
          return after(this.#data.turn?.begin(organizationOf(caller)), () => caller);
        },
      );
    });
  }

  /**
   * Caches the answer, of `bytes` bytes, under the request's key; `make` gives its cached form. `keys`: of what it was
   * made from, for a cache by keys.
   */
  keep(bytes: number, make: () => A, keys?: ChangeKeys): void {
    if (this.#key === undefined) return;
    const cached = (): CachedResponse<A> => ({ answer: make(), caller: this.#caller, atMs: this.#nowMs });
    this.#cache?.keep(this.#snapshot, this.#key, bytes, cached, keys);
  }
}

/** The root of the caller's uid; empty for all anonymous callers. */
function organizationOf({ identity }: Caller): string {
  const end = identity.indexOf("/");
  return end < 0 ? identity : identity.slice(0, end);
}

function isGuess(error: unknown): boolean {
  return error instanceof MoorageError && error.code === Code.Unauthenticated;
}
