import type { Agent } from "undici";
import { checkedLookup, checkedUrl, FetchError, fetchError, isEncoded } from "../lib/guarded-fetch.ts";

/** The bounds of a client whose answers may be of any length. */
export interface StreamOptions {
  /** Lets it reach loopback and private addresses, and plain http. For development and tests. */
  allowPrivateNetwork: boolean;
  /** For a name and a connection. */
  connectTimeoutMs: number;
  /** From the request to the answer's head. */
  headTimeoutMs: number;
  /** Between two pieces of the body. */
  silenceTimeoutMs: number;
  /** Connections to one host at a time; further requests wait. */
  connections: number;
}

export interface StreamInit {
  method?: "GET" | "HEAD";
  headers?: Record<string, string>;
  signal: AbortSignal;
}

/** An answer whose body is still on its way: it must be read to its end, or thrown away. */
export interface StreamAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Throws a FetchError when it breaks off. */
  body: AsyncIterable<Buffer>;
  /** Throws the rest of the body away. */
  discard(): void;
}

/** The streaming form of the guarded fetch, under the same rules: see `guardedFetch`. */
export interface StreamClient {
  /** Redirects are answered as they are: whoever follows one comes here again. Throws a FetchError. */
  request(url: string, init: StreamInit): Promise<StreamAnswer>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

// What may be read of a body that nobody wants, to use the connection again.
const MAX_DISCARDED_BYTES = 16_384;

/** Connections are kept for the next request to the same host. Every new one is checked, whatever name it is for. */
export function openStreamClient(options: StreamOptions): StreamClient {
  let agent: Agent | undefined;
  const dispatcher = async (): Promise<Agent> => {
    // Loaded when it is first needed, as in lib/guarded-fetch.ts.
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
    async request(text, { method = "GET", headers, signal }) {
      const url = checkedUrl(text, options);
      const { request } = await import("undici");
      try {
        const sent = { "user-agent": "moorage", ...headers, "accept-encoding": "identity" };
        const answer = await request(url, { dispatcher: await dispatcher(), method, headers: sent, signal });
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

async function* pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw fetchError(error);
  }
}
