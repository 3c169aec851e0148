import type { Exchange } from "./request.ts";

export type Headers = Record<string, string | string[]>;

/**
 * Answers with a body that is at hand, bytes or a text of one byte a character; to a HEAD request with its length
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

/** Answers with JSON. */
export function sendJson(exchange: Exchange, status: number, headers: Headers, body: object): void {
  send(exchange, status, headers, Buffer.from(JSON.stringify(body)));
}

/** Answers without a body: 201 and 202 say so by a length of 0, a 204 and a 304 have none of their own. */
export function sendEmpty({ res }: Exchange, status: number, headers: Headers): void {
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (status !== 204 && status !== 304) res.setHeader("content-length", 0);
  res.end();
}
