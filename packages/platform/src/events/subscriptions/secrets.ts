import { randomBytes } from "node:crypto";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database, Row } from "@moorage/kernel/store";

const SECRET_BYTES = 32;
const DAY_MS = 86_400_000;
/** How long the previous secret still signs by default. */
export const DEFAULT_OVERLAP_MS = DAY_MS;
export const MAX_OVERLAP_MS = 7 * DAY_MS;

/** The purpose for which a subscription's secrets are sealed, both the current and the previous one. */
export function subscriptionPlace(uid: string): string {
  return `subscription:${uid}`;
}

/** A new secret in the format of Standard Webhooks. */
export function newSubscriptionSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

type SecretColumns = Pick<Row<"subscriptions">, "secret" | "old_secret" | "old_secret_expire_time">;

/**
 * The columns for a new secret that replaces `before`. The replaced secret signs until `untilMs`; if undefined, no
 * longer. An older one does not sign any more.
 */
export function rotated(before: string, sealed: string, untilMs: number | undefined): SecretColumns {
  if (untilMs === undefined) return { secret: sealed, old_secret: "", old_secret_expire_time: null };
  return { secret: sealed, old_secret: before, old_secret_expire_time: untilMs };
}

/** Seals secrets again that are sealed with an older key. */
export async function resealSubscriptions(tx: Database, secrets: Secrets): Promise<void> {
  const again = (sealed: string, place: string): string =>
    sealed === "" || secrets.isCurrent(sealed) ? sealed : secrets.seal(secrets.open(sealed, place), place);
  for (const { uid, secret, old_secret } of await tx
    .selectFrom("subscriptions")
    .select(["uid", "secret", "old_secret"])
    .execute()) {
    const place = subscriptionPlace(uid);
    const sealed = { secret: again(secret, place), old_secret: again(old_secret, place) };
    if (sealed.secret === secret && sealed.old_secret === old_secret) continue;
    await tx.updateTable("subscriptions").set(sealed).where("uid", "=", uid).execute();
  }
}
