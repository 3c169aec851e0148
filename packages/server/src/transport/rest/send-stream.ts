import { once } from "node:events";
import { type Response, writeHead } from "@moorage/kernel/core/http";
import type { Streamed } from "@moorage/kernel/core/streamed-answer";
import type { ErrorLog } from "../status.ts";
import { listJson } from "./list-json.ts";
import type { AnswerContext } from "../http/answer-error.ts";

/**
 * Answers 200 with a list that is read while it is sent: no more is read before the client has taken what was sent. The
 * reading ends when the client disconnects. An error after the first byte cuts the answer off, so that the client sees
 * that it is not whole. It has no entity tag, because it is not known before its end.
 */
export async function answerStreamed(
  response: Response,
  list: Streamed,
  { requestId, headersOnly }: AnswerContext,
  log: ErrorLog,
): Promise<void> {
  const headers = ["x-request-id", requestId, "cache-control", "private, no-store", "content-type", "application/json"];
  writeHead(response, 200, headers);
  if (headersOnly) {
    await list.parts.return();
    response.end();
    return;
  }
  try {
    for await (const piece of listJson(list)) if (!(await sent(response, piece))) return;
    response.end();
  } catch (error) {
    log.error({ err: error, requestId }, "a list was cut off");
    response.destroy();
  }
}

/** Whether the piece was sent; false when the client has disconnected. Waits until the client takes more. */
export async function sent(response: Response, piece: string | Uint8Array): Promise<boolean> {
  const isOpen = (): boolean => !("stream" in response ? response.stream.closed : response.destroyed);
  if (!isOpen()) return false;
  // Two calls, because the two APIs overload write() differently.
  if ("stream" in response ? response.write(piece) : response.write(piece)) return true;
  const stop = new AbortController();
  try {
    await Promise.race([once(response, "drain", stop), once(response, "close", stop)]);
  } finally {
    stop.abort();
  }
  return isOpen();
}
