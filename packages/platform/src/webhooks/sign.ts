import { createHmac, hash } from "node:crypto";
import { aliasedName } from "@moorage/kernel/core/aliased-name";
import { bodyIn, isChat, type QueuedEvent } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import type { SinkRequest } from "./sink.ts";

/** The `aud` claim of the tokens that are sent with events. */
const AUDIENCE = "customer";
const TOKEN_TTL_MS = 300_000;
const SECRET_PREFIX = "whsec_";
// Matches what has to be percent-encoded in a CloudEvents header: all but printable ASCII, and of that the space, the
// quote and the percent sign. Source: CloudEvents HTTP binding §3.1.3.2.
const UNSAFE = /[^\x21\x23\x24\x26-\x7e]+/gu;

interface SigningDeps extends Pick<DeliveryDeps, "tokens" | "clock" | "bodyTypes"> {
  config: Pick<DeliveryDeps["config"], "baseUrl" | "eventsPrefix" | "grpcPackageAliases">;
}

/**
 * The recipient of events: the subscription's group, and the keys of its current signing secrets. Without keys nothing
 * is signed.
 */
export interface Recipient {
  group: string;
  keys: readonly Buffer[];
  /** The number of the SubscriptionFormat. */
  format: number;
}

/** The key in a signing secret of the form of Standard Webhooks. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
}

/**
 * The request of one attempt: a CloudEvent in HTTP binary mode with two proofs of its origin, an ID token of this
 * issuer and the signature of Standard Webhooks. The body and the id are the same in every attempt; the proofs are new.
 * A message for a chat has no proofs: its receiver verifies none, and is nobody to give a token to.
 */
export async function signedRequest(
  event: QueuedEvent,
  { group, keys, format }: Recipient,
  { tokens, config, clock, bodyTypes }: SigningDeps,
): Promise<SinkRequest> {
  const nowMs = clock.nowMs();
  const body = Buffer.from(bodyIn(format, event, config.eventsPrefix));
  if (isChat(format))
    return { method: "POST", body, headers: { "content-type": "application/json", "user-agent": "moorage" } };
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
  const bodyType = bodyTypes.get(event.type);
  const [alias] = config.grpcPackageAliases;
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
      ...(bodyType !== undefined && {
        "ce-bodytype": alias === undefined ? bodyType : aliasedName(bodyType, alias),
      }),
      "ce-sequence": String(event.number),
      "webhook-id": event.id,
      "webhook-timestamp": String(timestamp),
      ...(signed.length > 0 && { "webhook-signature": signed.join(" ") }),
    },
  };
}

function actorOf(json: string): string {
  // Written by this server, so its shape is known.
  return (JSON.parse(json) as { subject: string }).subject;
}

function safe(value: string): string {
  return value.toWellFormed().replace(UNSAFE, encodeURIComponent);
}
