// What publishes something here, sent again while the server is busy.
import { setTimeout as wait } from "node:timers/promises";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { RestClient } from "../api/rest.ts";
import { Failure } from "../command/failure.ts";
import { interruption } from "../command/interrupt.ts";
import { ItemFailure } from "./item-failure.ts";

const ATTEMPTS = 4;
const FIRST_WAIT_MS = 500;
const TIMEOUT_MS = 10 * 60_000;
const MAX_CHARS = 1_000;
const MAX_DEPTH = 16;

/** A request that publishes. */
interface Publishing {
  method: "POST" | "PUT";
  headers: Record<string, string>;
  /** Makes the body, for each attempt anew. */
  bodyOf(): ReadableStream<Uint8Array>;
}

/** What the registry here says against it. */
export interface Rejection {
  status: number;
  error: Failure;
}

/** Publishes something by the protocol at the path. Undefined when it is done. */
export async function publish(
  rest: RestClient,
  path: string,
  { method, headers, bodyOf }: Publishing,
): Promise<Rejection | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await rest.fetch(path, {
      method,
      audience: "registry",
      headers,
      body: bodyOf(),
      duplex: "half",
      timeoutMs: TIMEOUT_MS,
    });
    const text = await response.text().catch(() => "");
    if (response.ok) return undefined;
    const { status } = response;
    if ((status !== 429 && status < 500) || attempt === ATTEMPTS) return { status, error: refused(status, text) };
    await wait(FIRST_WAIT_MS * 3 ** (attempt - 1), undefined, { signal: interruption() });
  }
}

/** What the registry here says against a request, of one item; of all where nobody is known any longer. */
export function refused(status: number, body: string): Failure {
  const text = wordsOf(body) || `the registry answers ${status}`;
  return status === 401 ? new Failure(text) : new ItemFailure(text);
}

/** The error of an answer in JSON, as npm has it; else the first line of a text. */
function wordsOf(body: string): string {
  try {
    const answer = parseJson(body, MAX_DEPTH);
    const error = isObject(answer) ? answer["error"] : undefined;
    return typeof error === "string" ? error.slice(0, MAX_CHARS) : "";
  } catch {
    const [line = ""] = body.split("\n", 1);
    return line.slice(0, MAX_CHARS);
  }
}
