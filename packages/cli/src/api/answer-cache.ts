// Answers that are asked for again only if they changed. Source: RFC 9110, 13.1.2; docs/contract.md, ETags.
import type { JsonObject } from "./failure.ts";

// Pages of a long list; what is older is asked for as if it were new.
const MOST = 1000;

/** The answers of GET requests with their ETags, by path and query. */
export class Remembered {
  readonly #answers = new Map<string, { etag: string; body: JsonObject }>();

  /** The headers that ask for the answer only if it is another one. */
  headers(path: string): Record<string, string> {
    const known = this.#answers.get(path);
    return known === undefined ? {} : { "if-none-match": known.etag };
  }

  /** The answer that a 304 stands for. */
  unchanged(path: string): JsonObject | undefined {
    return this.#answers.get(path)?.body;
  }

  /** Remembers an answer with its ETag. */
  add(path: string, etag: string | null, body: JsonObject): void {
    this.#answers.delete(path);
    if (etag === null) return;
    this.#answers.set(path, { etag, body });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST && oldest !== undefined) this.#answers.delete(oldest);
  }
}
