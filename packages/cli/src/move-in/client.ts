// Requests to the registry that moves in. It only reads, and trusts nothing of what it is answered.
import { setTimeout as wait } from "node:timers/promises";
import { parseJson } from "@moorage/kernel/lib/json";
import { interruption } from "../command/interrupt.ts";
import { send, Unreachable } from "../http/http.ts";
import { type Credentials, openAuthorization } from "./authorization.ts";
import { SourceError } from "./source-error.ts";

/** An answer that was read whole. */
export interface SourceAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The URL that was asked in the end. */
  url: URL;
}

/** What is asked for besides the path. */
interface Ask {
  /** POST only of what reads, such as a query. */
  method?: "GET" | "HEAD" | "POST";
  /** Of a POST, as plain text. */
  body?: string;
  accept?: string;
  /** The most bytes of an answer that are read. */
  maxBytes?: number;
  /** The longest that one attempt takes, in milliseconds. */
  timeoutMs?: number;
}

/** An answer whose bytes are as they came. */
type Pieces = Omit<SourceAnswer, "body"> & { chunks: Uint8Array[] };

/** A client for one registry. */
export interface SourceClient {
  origin: string;
  /** Answers 2xx and 404. Throws a SourceError for everything else. */
  ask(target: string, ask?: Ask): Promise<SourceAnswer>;
  /** The bytes of an answer, as they came; undefined for 404. Throws a SourceError. */
  chunks(target: string, ask?: Ask): Promise<Uint8Array[] | undefined>;
  /** The JSON of an answer; undefined for 404. Throws a SourceError. */
  json(target: string): Promise<unknown>;
}

const MAX_BYTES = 16 << 20;
const TIMEOUT_MS = 60_000;
const MAX_DEPTH = 32;
const MAX_VALUES = 1_000_000;
const MAX_REDIRECTS = 3;
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

/** `origin`: scheme, host and port. Without credentials it asks as anybody. */
export function openSource(origin: string, credentials: Credentials): SourceClient {
  const authorization = openAuthorization(origin, credentials);

  const once = async (target: string, ask: Ask): Promise<Pieces> => {
    const { method = "GET", accept = "application/json", body, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = ask;
    let url = new URL(target, origin);
    for (let steps = 0; ; steps += 1) {
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), interruption()]);
      const known = authorization.known(url);
      const headers = {
        accept,
        "user-agent": "moorage",
        ...(known !== undefined && { authorization: known }),
        ...(body !== undefined && { "content-type": "text/plain" }),
      };
      const init = { method, headers, signal, timeoutMs: TIMEOUT_MS };
      const response = await send(url.href, body === undefined ? init : { ...init, body });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null)
        return { status: response.status, headers: response.headers, url, chunks: await bounded(response, maxBytes) };
      await response.body?.cancel();
      const next = URL.parse(location, url.href);
      if (method === "POST") throw new SourceError("the source redirects a query: not followed");
      if (next?.origin !== origin)
        throw new SourceError(`the source redirects to ${next?.host ?? "something that is no URL"}: not followed`);
      if (steps === MAX_REDIRECTS) throw new SourceError(`the source redirects more than ${MAX_REDIRECTS} times`);
      url = next;
    }
  };
  const authorized = async (target: string, ask: Ask): Promise<Pieces> => {
    const answer = await once(target, ask);
    if (answer.status !== 401) return answer;
    return (await authorization.meet(answer.url, answer.headers.get("www-authenticate"))) ? once(target, ask) : answer;
  };
  const pieces = async (target: string, options: Ask): Promise<Pieces> => {
    for (let attempt = 1; ; attempt += 1) {
      const waitMs = FIRST_WAIT_MS * 3 ** (attempt - 1);
      try {
        const answer = await authorized(target, options);
        const error = errorOf(answer);
        if (error === undefined) return answer;
        const after = isPassing(answer.status) ? retryAfterMs(answer.headers, waitMs) : undefined;
        if (after === undefined || after > MAX_WAIT_MS || attempt === ATTEMPTS) throw error;
        await wait(after, undefined, { signal: interruption() });
      } catch (error) {
        if (!(error instanceof Unreachable) || attempt === ATTEMPTS) throw error;
        await wait(waitMs, undefined, { signal: interruption() });
      }
    }
  };
  const ask = async (target: string, options: Ask = {}): Promise<SourceAnswer> => {
    const { chunks, ...answer } = await pieces(target, options);
    return { ...answer, body: Buffer.concat(chunks) };
  };
  return {
    origin,
    ask,
    async chunks(target, options = {}) {
      const { status, chunks } = await pieces(target, options);
      return status === 404 ? undefined : chunks;
    },
    async json(target) {
      const answer = await ask(target);
      return answer.status === 404 ? undefined : jsonOf(answer);
    },
  };
}

/** The JSON of an answer. Throws a SourceError when it has none, or one that is too large to be true. */
export function jsonOf({ body, url }: Pick<SourceAnswer, "body" | "url">, maxValues = MAX_VALUES): unknown {
  try {
    return parseJson(body.toString(), MAX_DEPTH, maxValues);
  } catch {
    throw new SourceError(`the source answers ${url.pathname} with something other than JSON`);
  }
}

async function bounded(response: Response, maxBytes: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new SourceError(`the source sends more than ${maxBytes} bytes in one answer`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SourceError || interruption().aborted) throw error;
    throw new Unreachable("the source broke off its answer", { sent: true, cause: error });
  }
  return chunks;
}

function errorOf({ status, url }: Pieces): SourceError | undefined {
  if ((status >= 200 && status < 300) || status === 404) return undefined;
  if (status === 401 || status === 403)
    return new SourceError(`the source does not let us read ${url.pathname} (${status})`, { status });
  if (status === 429) return new SourceError("the source asks to come back later (429)", { status });
  return new SourceError(`the source answers ${url.pathname} with ${status}`, { status });
}

function isPassing(status: number): boolean {
  return status === 429 || status === 408 || status >= 500;
}

function retryAfterMs(headers: Headers, waitMs: number): number {
  const text = headers.get("retry-after") ?? "";
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? waitMs : Math.max(0, dateMs - Date.now());
}
