import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

export interface Reply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
}
export interface Send {
  token?: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

/** An HTTP client that retries failed requests as registry clients do. */
export interface Client {
  /** One attempt. Rejects when the connection fails. */
  once(method: string, target: string, send?: Send): Promise<Reply>;
  /**
   * Repeats the request until the answer is not 502, 503 or 504, for a minute at most: for requests that may be done
   * twice. `retried` says whether an earlier attempt may have been done.
   */
  ask(method: string, target: string, send?: Send): Promise<Reply & { retried: boolean }>;
  /** The number of attempts that reached no server, or one that was unavailable. */
  trouble: { connections: number; unavailable: number };
  close(): void;
}

const TRY_TIMEOUT_MS = 30_000;
const GIVE_UP_MS = 60_000;

export function openClient(url: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const trouble = { connections: 0, unavailable: 0 };
  const once: Client["once"] = (method, target, { token, headers = {}, body } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const sent = body === undefined && method !== "GET" && method !== "HEAD" ? "" : body;
    const req = request(
      new URL(target, url),
      {
        method,
        agent,
        headers: {
          ...(token !== undefined && { authorization: token.includes(" ") ? token : `Bearer ${token}` }),
          ...(sent !== undefined && { "content-length": Buffer.byteLength(sent) }),
          ...headers,
        },
      },
      (res) => {
        buffer(res).then(
          (content) => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: content }),
          reject,
        );
      },
    );
    req.setTimeout(TRY_TIMEOUT_MS, () => req.destroy(new Error("no answer in time")));
    req.on("error", reject).end(sent);
    return promise;
  };
  return {
    once,
    trouble,
    async ask(method, target, send) {
      const endMs = performance.now() + GIVE_UP_MS;
      for (let retried = false; ; retried = true) {
        let reason: unknown;
        try {
          const reply = await once(method, target, send);
          if (![502, 503, 504].includes(reply.status)) return { ...reply, retried };
          trouble.unavailable += 1;
          reason = `${reply.status} ${reply.body.toString()}`;
        } catch (error) {
          trouble.connections += 1;
          reason = error;
        }
        if (performance.now() > endMs) throw new Error(`${method} ${target}: given up`, { cause: reason });
        await wait(50 + Math.random() * 150);
      }
    },
    close: () => agent.destroy(),
  };
}
