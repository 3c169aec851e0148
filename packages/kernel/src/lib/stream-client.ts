import { Readable } from "node:stream";
import type { Agent } from "undici";
import { checkedLookup, checkedUrl, FetchError, fetchError, isEncoded } from "./guarded-fetch.ts";

/** The limits of a client whose answers may have any length. */
export interface StreamOptions {
  /** Allows loopback and private addresses, and plain http. For development and tests. */
  allowPrivateNetwork: boolean;
  /** The name servers; with none, those of the operating system. */
  dnsServers?: readonly string[];
  /** For resolving a name and connecting. */
  connectTimeoutMs: number;
  /** From the request to the headers of the answer. */
  headTimeoutMs: number;
  /** Between two chunks of the body. */
  silenceTimeoutMs: number;
  /** Concurrent connections to one host; further requests wait. */
  connections: number;
}

interface StreamInit {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** What is sent; its length is to be among the headers. */
  body?: AsyncIterable<Uint8Array> | Uint8Array;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

/** An answer whose body is still arriving: it must be read to its end or discarded. */
export interface StreamAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Throws a FetchError when the connection breaks off. */
  body: AsyncIterable<Buffer>;
  /** Discards the rest of the body. */
  discard(): void;
}

/** The streaming form of the guarded fetch, under the same rules: see `guardedFetch`. */
export interface StreamClient {
  /** Returns redirects as they are: to follow one, call again with its location. Throws a FetchError. */
  request(url: string, init: StreamInit): Promise<StreamAnswer>;
  /** Aborts the requests under way and closes all connections. */
  close(): Promise<void>;
}

// The most bytes that are read of a discarded body, in order to reuse the connection.
const MAX_DISCARDED_BYTES = 16_384;

/** Connections to a host are reused. The addresses of every new connection are checked. */
export function openStreamClient(options: StreamOptions): StreamClient {
  let agent: Agent | undefined;
  const dispatcher = async (): Promise<Agent> => {
    // Loaded on first use, as in guarded-fetch.ts.
    const { Agent } = await import("undici");
    return (agent ??= new Agent({
      connect: { lookup: checkedLookup(options), timeout: options.connectTimeoutMs },
      connections: options.connections,
      maxHeaderSize: 65_536,
      headersTimeout: options.headTimeoutMs,
      bodyTimeout: options.silenceTimeoutMs,
      keepAliveTimeout: 4_000,
    }));
  };
  return {
    async request(text, { method = "GET", headers, body = null, signal }) {
      const url = checkedUrl(text, options);
      const { request } = await import("undici");
      try {
        const sent = { "user-agent": "moorage", ...headers, "accept-encoding": "identity" };
        const answer = await request(url, {
          dispatcher: await dispatcher(),
          method,
          headers: sent,
          body: sentBody(body),
          signal,
        });
        const discard = (): void =>
          void answer.body
            .on("error", () => {})
            .dump({ limit: MAX_DISCARDED_BYTES })
            .catch(() => {});
        if (isEncoded(answer.headers)) {
          discard();
          throw new FetchError("refused", "the answer is encoded");
        }
        return { status: answer.statusCode, headers: answer.headers, body: pieces(answer.body), discard };
      } catch (error) {
        throw fetchError(error);
      }
    },
    close: async () => await agent?.destroy(),
  };
}

function sentBody(body: StreamInit["body"] | null): Readable | Uint8Array | null {
  return body === null || body === undefined || body instanceof Uint8Array ? (body ?? null) : Readable.from(body);
}

async function* pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw fetchError(error);
  }
}
