import type { Sink, SinkAnswer } from "./sink.ts";

/** A sink's answer to whether it allows events. `failed`: it did not answer. */
export type Handshake =
  | { kind: "allowed"; ratePerMinute: number }
  | { kind: "rejected"; reason: string }
  | { kind: "failed"; error: string };

/** How long a sink's answer is valid. */
export const HANDSHAKE_EVERY_MS = 86_400_000;
// More than any subscription reaches, so that a sink with a limit answers with its own.
const RATE_WANTED = 1_000_000;
const MAX_REASON_CHARS = 200;

/**
 * Asks whether the sink allows events from this server, and how many a minute. A sink that does not know the handshake
 * is sent to without a limit: only one that allows other origins alone rejects. `origin`: this server's host name.
 * Source: CloudEvents HTTP 1.1 Web Hooks 1.0.2 §4.
 */
export async function askSink(sink: Sink, origin: string): Promise<Handshake> {
  const answer = await sink.send({
    method: "OPTIONS",
    headers: { "user-agent": "moorage", "webhook-request-origin": origin, "webhook-request-rate": String(RATE_WANTED) },
  });
  if (answer.status === 0) return { kind: "failed", error: answer.error };
  const allowed = valuesOf(answer, "webhook-allowed-origin");
  if (allowed.length === 0) return { kind: "allowed", ratePerMinute: 0 };
  if (!allowed.some((one) => one === "*" || one.toLowerCase() === origin.toLowerCase())) {
    return {
      kind: "rejected",
      reason: `the sink allows events from ${printable(allowed.join(", "))} alone, not from ${origin}`,
    };
  }
  return { kind: "allowed", ratePerMinute: allowedRateOf(valuesOf(answer, "webhook-allowed-rate")[0] ?? "*") };
}

function valuesOf({ headers }: SinkAnswer, name: string): string[] {
  return [headers[name] ?? []]
    .flat()
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/** Requests a minute; 0 when the header states no usable limit. */
function allowedRateOf(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Math.min(Number(text), RATE_WANTED) : 0;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON_CHARS);
}
