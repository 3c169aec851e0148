import type { Clock } from "@moorage/kernel/lib/clock";
import { readBounded } from "@moorage/kernel/lib/guarded-fetch";
import type { StreamAnswer, StreamClient } from "@moorage/kernel/lib/stream-client";
import { asUpstreamError, type Authorization, UpstreamError } from "../mirroring/index.ts";
import { asDestinationError } from "./errors.ts";

/** A request to a destination. */
interface ToSend {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, or an absolute URL of the destination. */
  target: string;
  headers?: Record<string, string>;
  /** Makes what is sent; called again when it is sent again. `touch` is to be called when there is progress. */
  body?: (touch: () => void) => AsyncIterable<Uint8Array>;
  /** The body's length in bytes. */
  length?: number;
  /** Instead of the destination's own. */
  authorization?: Authorization;
  signal: AbortSignal;
}

/** An answer whose body was read, up to a limit. */
export interface Received {
  status: number;
  headers: StreamAnswer["headers"];
  body: Buffer;
}

/** Sends requests to one registry, and follows nothing elsewhere. */
export interface Exchange {
  readonly origin: string;
  nowMs(): number;
  /** Sends it, and once more with a token when the registry asks for one. Throws an UpstreamError. */
  send(request: ToSend, maxBytes?: number): Promise<Received>;
}

// Without any progress of a request.
const SILENCE_MS = 60_000;
const MAX_BYTES = 64 * 1024;

export function openExchange({
  client,
  clock,
  origin,
  authorization: own,
}: {
  client: StreamClient;
  clock: Clock;
  origin: string;
  authorization: Authorization;
}): Exchange {
  const once = async (request: ToSend, header: string | undefined, maxBytes: number): Promise<Received> => {
    const { method, target, body, length } = request;
    const url = new URL(target, origin);
    if (url.origin !== origin)
      throw new UpstreamError("refused", "the destination sends us to another host, which is not followed");
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const signal = AbortSignal.any([request.signal, silence.signal]);
    const headers = {
      ...request.headers,
      ...(header !== undefined && { authorization: header }),
      ...(length !== undefined && { "content-length": String(length) }),
    };
    try {
      const sent = body === undefined ? {} : { body: body(() => void timer.refresh()) };
      const answer = await client.request(url.href, { method, headers, signal, ...sent });
      timer.refresh();
      if (method === "HEAD") {
        answer.discard();
        return { ...answer, body: Buffer.alloc(0) };
      }
      return { status: answer.status, headers: answer.headers, body: await readBounded(answer.body, maxBytes) };
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw asDestinationError(asUpstreamError(error));
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    origin,
    nowMs: () => clock.nowMs(),
    async send(request, maxBytes = MAX_BYTES) {
      const authorization = request.authorization ?? own;
      const answer = await once(request, authorization.known(), maxBytes);
      if (answer.status !== 401) return answer;
      const header = await authorization
        .answer(answer.headers["www-authenticate"], request.signal)
        .catch((error: unknown) => Promise.reject(asDestinationError(error)));
      if (header === undefined) throw new UpstreamError("refused", "the destination wants credentials (401)");
      return await once(request, header, maxBytes);
    },
  };
}
