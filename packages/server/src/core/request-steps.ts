import type { Snapshot } from "../store/index.ts";
import { ANONYMOUS, type Caller } from "./call.ts";
import type { RequestData } from "./http.ts";
import type { CachedResponse, ResponseCache } from "./response-cache.ts";

/**
 * What every request passes around its work, whatever protocol it speaks, in this order: `admit`, `cached`, `identify`,
 * then the work, then `keep`. The API's methods pass here in runtime/pipeline.ts, the registry's requests in
 * oci/router.ts and oci/request.ts. `A`: an answer as it is kept.
 */
export class RequestSteps<A> {
  readonly #data: RequestData;
  readonly #cache: ResponseCache<A> | undefined;
  #key: string | undefined;
  #nowMs = 0;
  #snapshot: Snapshot | undefined;
  #caller = ANONYMOUS;

  /** Without a cache every request is worked on. */
  constructor(data: RequestData, cache?: ResponseCache<A>) {
    this.#data = data;
    this.#cache = cache;
  }

  /** Throws what the request is rejected with, because too many came from its address. */
  admit(): void {
    if (this.#data.refused !== undefined) throw this.#data.refused;
  }

  /**
   * What the same request was answered, where that still holds; its caller is counted. `key` is all that the answer
   * depends on beside the database and the time; undefined: it is not kept.
   */
  cached(key: string | undefined, nowMs: number): CachedResponse<A> | undefined {
    this.#key = key;
    this.#nowMs = nowMs;
    const known = key === undefined ? undefined : this.#cache?.get(key, nowMs);
    if (known !== undefined) this.#data.admit?.(known.caller.identity);
    return known;
  }

  /**
   * Who calls, as `authenticate` finds out. The caller is counted: throws RESOURCE_EXHAUSTED where it sent too many
   * requests, and what `authenticate` throws.
   */
  async identify(authenticate: () => Promise<Caller>): Promise<Caller> {
    this.#snapshot = this.#key === undefined ? undefined : this.#cache?.snapshot();
    this.#caller = await authenticate();
    this.#data.admit?.(this.#caller.identity);
    return this.#caller;
  }

  /** Keeps the answer of so many bytes for the next request of the same key; `make` gives it as it is kept. */
  keep(bytes: number, make: () => A): void {
    if (this.#key === undefined) return;
    this.#cache?.keep(this.#snapshot, this.#key, bytes, () => ({
      answer: make(),
      caller: this.#caller,
      atMs: this.#nowMs,
    }));
  }
}
