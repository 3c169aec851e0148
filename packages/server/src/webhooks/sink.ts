import type { LookupFunction } from "node:net";
import type { Dispatcher, Pool } from "undici";
import { checkedUrl, FetchError } from "../lib/guarded-fetch.ts";
import type { Reply } from "./retry.ts";
import { failureText } from "./sink-errors.ts";

export interface SinkOptions {
  allowPrivateNetwork: boolean;
  /** For a whole attempt: name, connection, request and answer. */
  timeoutMs: number;
  /** Connections at a time. */
  connections: number;
  /** Finds the addresses of a name and refuses those that must not be reached. */
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

/** Where the events of one subscription go. */
export interface Sink {
  /** Sends one request. It never rejects: what went wrong is in the answer, in words of ours that name no address. */
  send(request: SinkRequest): Promise<SinkAnswer>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

// The status is all we need of an answer.
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 4_000;
// A sink that asks for more gets less: one that goes away while nobody looks would cost the next event its first
// attempt.
const LONGEST_KEEP_ALIVE_MS = 30_000;
const CUT = new Error("nobody waits for the answer any more");

/**
 * A client for one sink under the rules of the guarded fetch (lib/guarded-fetch.ts): addresses are checked for every
 * connection, redirects are answers like any other, nothing is unpacked. Connections are kept for the next request.
 */
export async function openSink(
  target: string,
  { allowPrivateNetwork, timeoutMs, connections, lookup }: SinkOptions,
): Promise<Sink> {
  // Loaded when it is first needed: a server that sends nothing spares 10 MiB.
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
    // The time of an attempt is kept below; these only clean up behind it.
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
          ? { ...unanswered("interrupted: the server was told to end"), isInterrupted: true }
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

/** One request over the pool, until its answer has been read or its time is over. Rejects when there is no answer. */
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
      // A sink that has said its status has said all: how its body ends changes nothing.
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
        // The time was over before there was a connection: nothing is sent any more.
        if (over) started.abort(CUT);
      },
      onResponseStart(_, status, headers) {
        // 1xx come before the answer.
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
