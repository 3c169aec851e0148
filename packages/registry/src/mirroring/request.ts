import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "@moorage/kernel/lib/clock";
import { readBounded } from "@moorage/kernel/lib/guarded-fetch";
import type { StreamAnswer, StreamClient } from "@moorage/kernel/lib/stream-client";
import type { Authorization } from "./authorization.ts";
import { asUpstreamError, retryAfterMs, UpstreamError } from "./errors.ts";

/** How often a request to a source is repeated. */
export interface RetryPolicy {
  /** The number of attempts after the first. */
  retries: number;
  /** The longest wait before an attempt; a source that asks for a longer one ends the request. */
  maxWaitMs: number;
}

/** A request to a registry. */
interface SourceRequest {
  method?: "GET" | "HEAD" | "POST";
  /** What is sent. Such a request follows no redirects. */
  body?: Uint8Array;
  /** Path and query, or an absolute URL of the same registry. */
  target: string;
  headers?: Record<string, string>;
  /** How often it is repeated, if not as all requests to the registry. */
  retryPolicy?: RetryPolicy;
  signal: AbortSignal;
}

/** An answer, and the URL that gave it, after redirects. */
type SourceAnswer = StreamAnswer & { url: URL };

/** An answer whose body was read whole. */
export interface SmallAnswer {
  status: number;
  headers: StreamAnswer["headers"];
  body: Buffer;
  /** The URL that gave it, after redirects. */
  url: URL;
}

/** Sends requests to one registry, with its credentials. */
export interface Exchange {
  /**
   * Sends the request once. Returns answers with 2xx, and with a 4xx such as 404 that does not deny access. Throws an
   * UpstreamError for all others.
   */
  open(request: SourceRequest): Promise<SourceAnswer>;
  /**
   * Sends the request, repeats it by the retry policy, and reads the whole answer. An attempt may take a minute. Throws
   * an UpstreamError.
   */
  read(request: SourceRequest, maxBytes: number): Promise<SmallAnswer>;
}

/** Looks at the requests to a registry and at its answers. */
export interface Guard {
  /** Called before each request. Throws an UpstreamError for one that is not to be sent. */
  before(): void;
  /** Called with each answer of the registry itself. */
  answered(status: number, headers: StreamAnswer["headers"]): void;
  /** Called with the error of a request. */
  failed(error: unknown): void;
}

interface ExchangeDeps {
  client: StreamClient;
  clock: Clock;
  origin: string;
  authorization: Authorization;
  retryPolicy: RetryPolicy;
  guard?: Guard | undefined;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 60_000;
const FIRST_WAIT_MS = 500;

export function openExchange({ client, clock, origin, authorization, retryPolicy, guard }: ExchangeDeps): Exchange {
  /**
   * Follows redirects, each under the rules of the guarded fetch. The authorization is sent to the registry alone: from
   * the first redirect to another host on it is left out. `own`: whether the registry itself answered.
   */
  const follow = async (
    { method = "GET", target, headers = {}, body, signal }: SourceRequest,
    authorizationHeader: string | undefined,
  ): Promise<{ answer: SourceAnswer; own: boolean }> => {
    let url = new URL(target, origin);
    let own = url.origin === origin;
    for (let steps = 0; ; steps += 1) {
      const sent =
        own && authorizationHeader !== undefined ? { ...headers, authorization: authorizationHeader } : headers;
      const answer = await client.request(url.href, {
        method,
        headers: body === undefined ? sent : { ...sent, "content-length": String(body.length) },
        signal,
        ...(body !== undefined && { body }),
      });
      const location = answer.headers["location"];
      if (answer.status < 300 || answer.status >= 400 || typeof location !== "string")
        return { answer: { ...answer, url }, own };
      answer.discard();
      if (body !== undefined) throw new UpstreamError("wrong", "the source sends what it was sent somewhere else");
      if (steps === MAX_REDIRECTS)
        throw new UpstreamError("wrong", `the source redirects more than ${MAX_REDIRECTS} times`);
      const next = URL.parse(location, url.href);
      if (next === null) throw new UpstreamError("wrong", "the source redirects to something that is not a URL");
      own &&= next.origin === origin;
      url = next;
    }
  };
  const open = async (request: SourceRequest): Promise<SourceAnswer> => {
    guard?.before();
    try {
      let { answer, own } = await follow(request, authorization.known());
      if (answer.status === 401 && own) {
        answer.discard();
        const header = await authorization.answer(answer.headers["www-authenticate"], request.signal);
        if (header === undefined) throw new UpstreamError("refused", "the source wants credentials (401)");
        ({ answer, own } = await follow(request, header));
      }
      if (own) guard?.answered(answer.status, answer.headers);
      const error = errorOf(answer, own, clock.nowMs());
      if (error === undefined) return answer;
      answer.discard();
      throw error;
    } catch (error) {
      const known = asUpstreamError(error);
      if (!request.signal.aborted) guard?.failed(known);
      throw known;
    }
  };
  return {
    open,
    async read(request, maxBytes) {
      for (let failures = 0; ; failures += 1) {
        try {
          const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
          const { status, headers, body, url } = await open({ ...request, signal });
          return { status, headers, url, body: await readBounded(body, maxBytes) };
        } catch (thrown) {
          const error = asUpstreamError(thrown);
          const waitMs = waitBefore(error, failures, request.retryPolicy ?? retryPolicy);
          if (waitMs === undefined || request.signal.aborted) throw error;
          await wait(waitMs, undefined, { signal: request.signal });
        }
      }
    },
  };
}

/**
 * Milliseconds to wait before the next attempt; `failures`: the failed attempts before this one. Undefined when the
 * request must not be repeated.
 */
export function waitBefore(error: unknown, failures: number, { retries, maxWaitMs }: RetryPolicy): number | undefined {
  if (
    !(error instanceof UpstreamError) ||
    (error.kind !== "limited" && error.kind !== "unreachable") ||
    failures >= retries
  )
    return undefined;
  const waitMs = error.retryAfterMs ?? FIRST_WAIT_MS * 3 ** failures * (0.5 + Math.random() / 2);
  return waitMs > maxWaitMs ? undefined : waitMs;
}

/** The error of an answer by its status. Undefined when the answer can be used. */
function errorOf({ status, headers }: StreamAnswer, own: boolean, nowMs: number): UpstreamError | undefined {
  const afterMs = retryAfterMs(headers["retry-after"], nowMs);
  if (status === 429)
    return new UpstreamError("limited", "the source asks to come back later (429)", { retryAfterMs: afterMs, status });
  // Asking again soon would change nothing.
  if (status === 501) return new UpstreamError("wrong", `the source answered ${status}`, { status });
  if (status >= 500 || status === 408)
    return new UpstreamError("unreachable", `the source answered ${status}`, { retryAfterMs: afterMs, status });
  if (status === 401 || status === 403) {
    return new UpstreamError(
      "refused",
      own
        ? `the source does not let us pull (${status})`
        : `the place that the source redirects to refuses (${status})`,
      { status },
    );
  }
  return status >= 300 && status < 400
    ? new UpstreamError("wrong", `the source answered ${status} without a place to go`)
    : undefined;
}
