import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { readBounded } from "../lib/guarded-fetch.ts";
import type { StreamAnswer, StreamClient } from "./http-client.ts";
import type { Authorization } from "./authorization.ts";
import { asTrouble, retryAfterMs, UpstreamError } from "./errors.ts";

/** How much a request to a source may be tried. */
export interface Patience {
  /** Tries after the first. */
  retries: number;
  /** Longest that is waited before a try; a source that asks for more ends the request. */
  maxWaitMs: number;
}

export interface Ask {
  method?: "GET" | "HEAD";
  /** Path and query, or a whole URL of the same registry. */
  target: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

export interface SmallAnswer {
  status: number;
  headers: StreamAnswer["headers"];
  body: Buffer;
}

/** Asks one registry, as whoever the credentials say. */
export interface Exchange {
  /** One try. An answer is 2xx or a 4xx that is no refusal, such as 404. Throws an UpstreamError. */
  open(ask: Ask): Promise<StreamAnswer>;
  /** Tries with patience, and reads the whole answer, within a minute a try. */
  read(ask: Ask, maxBytes: number): Promise<SmallAnswer>;
}

interface ExchangeDeps {
  client: StreamClient;
  clock: Clock;
  origin: string;
  authorization: Authorization;
  patience: Patience;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 60_000;
const FIRST_WAIT_MS = 500;

export function openExchange({ client, clock, origin, authorization, patience }: ExchangeDeps): Exchange {
  /**
   * Follows redirects, each under the guarded fetch's rules. The authorization is for the registry alone: it is left
   * out at the first step to another host, and stays out. `own`: the registry itself answered.
   */
  const follow = async (
    { method = "GET", target, headers = {}, signal }: Ask,
    shown: string | undefined,
  ): Promise<{ answer: StreamAnswer; own: boolean }> => {
    let url = new URL(target, origin);
    let own = url.origin === origin;
    for (let steps = 0; ; steps += 1) {
      const sent = own && shown !== undefined ? { ...headers, authorization: shown } : headers;
      const answer = await client.request(url.href, { method, headers: sent, signal });
      const location = answer.headers["location"];
      if (answer.status < 300 || answer.status >= 400 || typeof location !== "string") return { answer, own };
      answer.discard();
      if (steps === MAX_REDIRECTS)
        throw new UpstreamError("wrong", `the source redirects more than ${MAX_REDIRECTS} times`);
      const next = URL.parse(location, url.href);
      if (next === null) throw new UpstreamError("wrong", "the source redirects to what is no URL");
      own &&= next.origin === origin;
      url = next;
    }
  };
  const open = async (ask: Ask): Promise<StreamAnswer> => {
    try {
      let { answer, own } = await follow(ask, authorization.known());
      if (answer.status === 401 && own) {
        answer.discard();
        const shown = await authorization.answer(answer.headers["www-authenticate"], ask.signal);
        if (shown === undefined) throw new UpstreamError("refused", "the source wants credentials (401)");
        ({ answer, own } = await follow(ask, shown));
      }
      const trouble = troubleOf(answer, own, clock.nowMs());
      if (trouble === undefined) return answer;
      answer.discard();
      throw trouble;
    } catch (error) {
      throw asTrouble(error);
    }
  };
  return {
    open,
    async read(ask, maxBytes) {
      for (let tried = 0; ; tried += 1) {
        try {
          const within = { ...ask, signal: AbortSignal.any([ask.signal, AbortSignal.timeout(TIMEOUT_MS)]) };
          const { status, headers, body } = await open(within);
          return { status, headers, body: await readBounded(body, maxBytes) };
        } catch (thrown) {
          const error = asTrouble(thrown);
          const waitMs = waitBefore(error, tried, patience);
          if (waitMs === undefined || ask.signal.aborted) throw error;
          await wait(waitMs, undefined, { signal: ask.signal });
        }
      }
    },
  };
}

/** How long to wait before the next try. Undefined: there is none. */
export function waitBefore(error: unknown, tried: number, { retries, maxWaitMs }: Patience): number | undefined {
  if (
    !(error instanceof UpstreamError) ||
    (error.kind !== "limited" && error.kind !== "unreachable") ||
    tried >= retries
  )
    return undefined;
  const waitMs = error.retryAfterMs ?? FIRST_WAIT_MS * 3 ** tried * (0.5 + Math.random() / 2);
  return waitMs > maxWaitMs ? undefined : waitMs;
}

/** What is wrong with the status; undefined when the answer can be used. */
function troubleOf({ status, headers }: StreamAnswer, own: boolean, nowMs: number): UpstreamError | undefined {
  const afterMs = retryAfterMs(headers["retry-after"], nowMs);
  if (status === 429)
    return new UpstreamError("limited", "the source asks to come back later (429)", { retryAfterMs: afterMs });
  if (status >= 500 || status === 408)
    return new UpstreamError("unreachable", `the source answered ${status}`, { retryAfterMs: afterMs });
  if (status === 401 || status === 403) {
    return new UpstreamError(
      "refused",
      own
        ? `the source does not let us pull (${status})`
        : `the place that the source redirects to refuses (${status})`,
    );
  }
  return status >= 300 && status < 400
    ? new UpstreamError("wrong", `the source answered ${status} without a place to go`)
    : undefined;
}
