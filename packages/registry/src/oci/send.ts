import type { Headers } from "./answers.ts";
import type { Exchange } from "./request.ts";

/**
 * Answers with a body in memory: bytes, or a string with one character for each byte. A HEAD request gets its length
 * alone.
 */
export function send({ req, res, data }: Exchange, status: number, headers: Headers, body: Uint8Array | string): void {
  res.statusCode = status;
  for (const name in headers) res.setHeader(name, headers[name] ?? "");
  res.setHeader("content-length", body.length);
  if (req.method !== "HEAD" && data.observed !== undefined) data.observed.sentBytes += body.length;
  if (req.method === "HEAD") res.end();
  else if (typeof body === "string") res.end(body, "latin1");
  else res.end(body);
}

export function sendJson(exchange: Exchange, status: number, headers: Headers, body: object): void {
  send(exchange, status, headers, Buffer.from(JSON.stringify(body)));
}

/** Answers without a body: content-length is 0, except for 204 and 304, which have none. */
export function sendEmpty({ res }: Exchange, status: number, headers: Headers): void {
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (status !== 204 && status !== 304) res.setHeader("content-length", 0);
  res.end();
}
