import type { ByteSink, ByteSource } from "@moorage/kernel/blobs";
import { readBody, type Request } from "@moorage/kernel/core/http";
import type { RegistryConfig, Exchange } from "./request.ts";

const IDLE_TIMEOUT_MS = 60_000;

/** A request whose body is read, or whose answer is written, in pieces. */
export interface Transfer extends Pick<Exchange, "req" | "res" | "data"> {
  deps: { config: Pick<RegistryConfig, "idleTimeoutMs"> };
}

/**
 * The request's body. The connection of a client that sends nothing for `idleTimeoutMs` is closed. A consumer that
 * stops early leaves the connection usable for the response.
 */
export async function* bodyOf(exchange: Transfer): ByteSource {
  const { req, data, deps } = exchange;
  const idle = setTimeout(
    () => req.destroy(new Error("the client sent nothing for too long")),
    deps.config.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
  );
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      idle.refresh();
      if (data.observed !== undefined) data.observed.receivedBytes += chunk.byteLength;
      yield chunk;
    }
  } finally {
    clearTimeout(idle);
  }
}

/**
 * The whole body of the request. Throws the error that `tooLarge` makes when the body exceeds `maxBytes`. The idle
 * timeout is that of `bodyOf`.
 */
export function wholeBodyOf({ req, data, deps }: Transfer, maxBytes: number, tooLarge: () => Error): Promise<Buffer> {
  const { idleTimeoutMs = IDLE_TIMEOUT_MS } = deps.config;
  return readBody(
    req,
    { maxBytes, idleTimeoutMs },
    (problem) => (problem === "too large" ? tooLarge() : new Error("the client went away")),
    data.observed,
  );
}

/** Whether the request has a body, by its headers. */
export function hasBody(req: Request): boolean {
  if (req.headers["content-length"] !== undefined) return req.headers["content-length"] !== "0";
  return req.httpVersionMajor >= 2 ? !req.complete : req.headers["transfer-encoding"] !== undefined;
}

/** The body's length in bytes by its Content-Length. Undefined when the body is sent in chunks. */
export function announcedLength(req: Request): number | undefined {
  const length = req.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/**
 * Writes chunks to the response. Each write resolves when the bytes were handed to the operating system, so that their
 * buffer can be reused. It rejects when the client is gone or takes nothing for `idleTimeoutMs`.
 */
export function responseSink(exchange: Transfer): ByteSink {
  const { res, data, deps } = exchange;
  const idleTimeoutMs = deps.config.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  // From now on the client's connection says how long it takes.
  data.turn?.end();
  const waiting = new Set<(error: Error) => void>();
  let gone = false;
  // A write to a closed socket may never call back; the close event ends it.
  res.once("close", () => {
    gone = true;
    for (const reject of waiting) reject(new Error("the client went away"));
    waiting.clear();
  });
  return (chunk) =>
    new Promise((resolve, reject) => {
      if (gone || res.destroyed) return reject(new Error("the client went away"));
      const idle = setTimeout(() => res.destroy(), idleTimeoutMs);
      const settle = (act: () => void): void => {
        clearTimeout(idle);
        waiting.delete(fail);
        act();
      };
      const fail = (error: Error): void => settle(() => reject(error));
      waiting.add(fail);
      const written = (error?: Error | null): void =>
        settle(() => {
          if (error) return reject(error);
          if (data.observed !== undefined) data.observed.sentBytes += chunk.length;
          resolve();
        });
      if ("stream" in res) res.write(chunk, "utf8", written);
      else res.write(chunk, written);
    });
}
