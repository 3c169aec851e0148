import { once } from "node:events";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type Response, writeHead } from "../../core/http.ts";
import type { Streamed } from "../../core/streamed.ts";
import { jsonWriter, V1_ANSWER } from "../../lib/protojson/write.ts";
import type { ErrorLog } from "../status.ts";
import type { AnswerContext } from "./send.ts";

/**
 * Answers 200 with a list that is read while it is sent: no more is read before the client has taken what was sent. The
 * reading ends when the client disconnects. An error after the first byte cuts the answer off, so that the client sees
 * that it is not whole. It has no entity tag, because it is not known before its end.
 */
export async function answerStreamed(
  response: Response,
  { field, parts }: Streamed,
  { requestId, headersOnly }: AnswerContext,
  log: ErrorLog,
): Promise<void> {
  const headers = ["x-request-id", requestId, "cache-control", "private, no-store", "content-type", "application/json"];
  writeHead(response, 200, headers);
  if (headersOnly) {
    await parts.return();
    response.end();
    return;
  }
  const write = jsonWriter(elementOf(field.message), V1_ANSWER);
  try {
    let before = `{"${field.jsonName}":[`;
    for await (const part of parts) {
      if (part.length === 0) continue;
      if (!(await sent(response, before + part.map((element: Message) => write(element)).join(",")))) return;
      before = ",";
    }
    response.end(before === "," ? "]}" : "{}");
  } catch (error) {
    log.error({ err: error, requestId }, "a list was cut off");
    response.destroy();
  }
}

/** Whether the text was sent; false when the client has disconnected. Waits until the client takes more. */
async function sent(response: Response, text: string): Promise<boolean> {
  const isOpen = (): boolean => !("stream" in response ? response.stream.closed : response.destroyed);
  if (!isOpen()) return false;
  // Two calls, because the two APIs overload write() differently.
  if ("stream" in response ? response.write(text) : response.write(text)) return true;
  const stop = new AbortController();
  try {
    await Promise.race([once(response, "drain", stop), once(response, "close", stop)]);
  } finally {
    stop.abort();
  }
  return isOpen();
}

function elementOf(message: DescMessage | undefined): DescMessage {
  if (message === undefined) throw new Error("a streamed list is of messages");
  return message;
}
