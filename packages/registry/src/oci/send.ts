import { beginAnswer } from "@moorage/kernel/core/http";
import type { Headers } from "./answers.ts";
import type { Exchange } from "./request.ts";

/**
 * Answers with a body in memory: bytes, or a string with one character for each byte. A HEAD request gets its length
 * alone.
 */
export function send(exchange: Exchange, status: number, headers: Headers, body: Uint8Array | string): void {
  const { req, res, data } = exchange;
  begin(exchange, status, headers, body.length);
  if (req.method !== "HEAD" && data.observed !== undefined) data.observed.sentBytes += body.length;
  if (req.method === "HEAD") res.end();
  else if (typeof body === "string") res.end(body, "latin1");
  else res.end(body);
}

export function sendJson(exchange: Exchange, status: number, headers: Headers, body: object): void {
  send(exchange, status, headers, Buffer.from(JSON.stringify(body)));
}

/** Answers without a body: content-length is 0, except for 204 and 304, which have none. */
export function sendEmpty(exchange: Exchange, status: number, headers: Headers): void {
  begin(exchange, status, headers, status === 204 || status === 304 ? undefined : 0);
  exchange.res.end();
}

/** Begins an answer, with the headers that all answers of the exchange have. `length`: of the body, in bytes. */
export function begin(exchange: Exchange, status: number, headers: Headers, length: number | undefined): void {
  beginAnswer(exchange.res, status, exchange.everyAnswer, headers, length);
}
