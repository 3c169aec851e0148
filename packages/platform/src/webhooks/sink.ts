import type { LookupFunction } from "node:net";
import type { Dispatcher, Pool } from "undici";
import { checkedUrl, FetchError } from "@moorage/kernel/lib/guarded-fetch";
import type { Reply } from "./retry.ts";
import { failureText } from "./sink-errors.ts";

export interface SinkOptions {
  allowPrivateNetwork: boolean;
  /** The time for a whole attempt: name lookup, connection, request and answer. */
  timeoutMs: number;
  /** The number of concurrent connections. */
  connections: number;
  /** Resolves a name, and fails for addresses that must not be reached. */
  lookup: LookupFunction;
}

export interface SinkRequest {
  method: "POST" | "OPTIONS";
  headers: Record<string, string>;
  body?: Buffer;
}
export interface SinkAnswer extends Reply {
  headers: Record<string, string | string[] | undefined>;
}

/** The HTTP endpoint that the events of one subscription are sent to. */
export interface Sink {
  /** Sends one request. Never rejects: errors are in the answer, in texts of this server that contain no address. */
  send(request: SinkRequest): Promise<SinkAnswer>;
  /** Aborts the requests under way. */
  close(): Promise<void>;
}

// Only the status and headers of an answer are used.
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 4_000;
// The bound for a sink that asks for a longer keep-alive: a connection that the sink closed unnoticed would fail the
// first attempt of the next event.
const LONGEST_KEEP_ALIVE_MS = 30_000;
const CUT = new Error("the answer is no longer waited for");

/**
 * A client for one sink under the rules of the guarded fetch (lib/guarded-fetch.ts): addresses are checked for every
 * connection, redirects are not followed, bodies are not decompressed. Connections are reused.
 */
export async function openSink(
  target: string,
  { allowPrivateNetwork, timeoutMs, connections, lookup }: SinkOptions,
): Promise<Sink> {
  // Loaded on first use: a server that sends no events saves 10 MiB.
  const { Pool } = await import("undici");
  let pool: Pool | undefined;
  let isClosed = false;
  const options: Pool.Options = {
    connections,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: LONGEST_KEEP_ALIVE_MS,
    // The timer in `exchange` bounds an attempt; these only clean up after it.
    headersTimeout: 2 * timeoutMs,
    bodyTimeout: 2 * timeoutMs,
    connect: { lookup, timeout: timeoutMs },
  };
  return {
    async send({ method, headers, body }) {
      try {
        const url = checkedUrl(target, { allowPrivateNetwork });
        pool ??= new Pool(url.origin, options);
        return await exchange(
          pool,
          { path: url.pathname + url.search, method, headers, body: body ?? null },
          timeoutMs,
        );
      } catch (error) {
        return isClosed
          ? { ...unanswered("interrupted: the server shuts down"), isInterrupted: true }
          : unanswered(failureText(error));
      }
    },
    async close() {
      isClosed = true;
      await pool?.destroy();
    },
  };
}

function unanswered(error: string): SinkAnswer {
  return { status: 0, error, headers: {} };
}

/**
 * Sends one request over the pool, and waits until its answer is read or its time is over. Rejects without an answer.
 */
function exchange(pool: Pool, request: Dispatcher.DispatchOptions, timeoutMs: number): Promise<SinkAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let answer: SinkAnswer | undefined;
    let size = 0;
    let over = false;
    const settle = (error?: unknown): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      // The status decides: it does not matter how the body ends.
      if (answer !== undefined) resolve(answer);
      else reject(error);
    };
    const cut = (error: unknown): void => {
      settle(error);
      controller?.abort(CUT);
    };
    const timer = setTimeout(() => cut(new FetchError("failed", `no answer within ${timeoutMs} ms`)), timeoutMs);
    pool.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        // The time was over before there was a connection, so the request is not sent.
        if (over) started.abort(CUT);
      },
      onResponseStart(_, status, headers) {
        // Informational answers (1xx) precede the answer.
        if (status < 200) return;
        const retryAfter = headers["retry-after"];
        answer = { status, error: "", headers, ...(typeof retryAfter === "string" && { retryAfter }) };
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) cut(CUT);
      },
      onResponseEnd: () => settle(),
      onResponseError: (_, error) => settle(error),
    });
  });
}
