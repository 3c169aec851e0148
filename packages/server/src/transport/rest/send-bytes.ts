import { setImmediate } from "node:timers/promises";
import { type Response, writeHead } from "@moorage/kernel/core/http";
import type { Written } from "@moorage/kernel/core/written-answer";
import { steps } from "../steps.ts";
import { okHeaders } from "./send.ts";
import type { AnswerContext } from "../http/answer-error.ts";
import { sent } from "./send-stream.ts";

/** How long a client may take for a large answer. Then it is cut off, since others wait for its memory. */
const SEND_TIMEOUT_MS = 300_000;

/**
 * Answers 200 with an answer that another process has made, with the headers that it would have otherwise, as fast as
 * the client takes it and in steps, between which others are served.
 */
export async function answerWritten(
  response: Response,
  { bytes, etag, release }: Written,
  { isTagged, ...context }: AnswerContext & { isTagged: boolean },
  ifNoneMatch: string | undefined,
): Promise<void> {
  const timer = setTimeout(() => response.destroy(), SEND_TIMEOUT_MS).unref();
  try {
    const { status, headers } = okHeaders(context, isTagged ? etag : undefined, ifNoneMatch);
    if (status === 200) headers.push("content-type", "application/json", "content-length", String(bytes.length));
    writeHead(response, status, headers);
    if (status === 200 && !context.headersOnly)
      for (const step of steps(bytes)) {
        if (!(await sent(response, step))) return;
        await setImmediate();
      }
    response.end();
  } finally {
    clearTimeout(timer);
    release();
  }
}
