import { createHmac, hash } from "node:crypto";
import type { QueuedEvent } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import type { SinkRequest } from "./sink.ts";

/** For whom the events of subscriptions are. */
const AUDIENCE = "customer";
const TOKEN_TTL_MS = 300_000;
const SECRET_PREFIX = "whsec_";
// What a header may hold as it is in a CloudEvent: printable ASCII but the space, the quote and the percent sign.
// Source: CloudEvents HTTP binding §3.1.3.2.
const UNSAFE = /[^\x21\x23\x24\x26-\x7e]+/gu;

type SigningDeps = Pick<DeliveryDeps, "tokens" | "config" | "clock">;

/** Where an event is sent for: the subscription's group, and its secrets, those that sign now. */
export interface Recipient {
  group: string;
  keys: readonly Buffer[];
}

/** The key in a secret as Standard Webhooks writes it. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
}

/**
 * One attempt to send an event: a CloudEvent in HTTP binary mode that proves twice where it comes from, by an ID token
 * of ours and as Standard Webhooks has it. The body and the id are the same at every attempt; the proofs are of now.
 */
export async function signedRequest(
  event: QueuedEvent,
  { group, keys }: Recipient,
  { tokens, config, clock }: SigningDeps,
): Promise<SinkRequest> {
  const nowMs = clock.nowMs();
  const body = Buffer.from(`{"actor":${event.actor},"body":${event.body}}`);
  const digest = `sha256:${hash("sha256", body, "hex")}`;
  const { token } = await tokens.mint({
    type: "webhook",
    identity: group,
    audiences: [AUDIENCE],
    ttlMs: TOKEN_TTL_MS,
    nowMs,
    webhook: { digest },
  });
  const timestamp = Math.floor(nowMs / 1000);
  const signed = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(`${event.id}.${timestamp}.`).update(body).digest("base64")}`,
  );
  const actor = actorOf(event.actor);
  return {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "moorage",
      authorization: `Bearer ${token}`,
      "ce-specversion": "1.0",
      "ce-id": safe(event.id),
      "ce-source": safe(config.baseUrl),
      "ce-type": safe(`${config.eventsPrefix}.${event.type}`),
      "ce-subject": safe(event.subject),
      "ce-time": new Date(event.timeMs).toISOString(),
      "ce-group": safe(event.group),
      "ce-audience": AUDIENCE,
      ...(actor !== "" && { "ce-actor": safe(actor) }),
      "ce-sequence": String(event.number),
      "webhook-id": event.id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signed.join(" "),
    },
  };
}

function actorOf(json: string): string {
  // We wrote it.
  return (JSON.parse(json) as { subject: string }).subject;
}

function safe(value: string): string {
  return value.toWellFormed().replace(UNSAFE, encodeURIComponent);
}
