import { randomBytes } from "node:crypto";
import type { Secrets } from "../../lib/secrets.ts";
import type { Database, Row } from "../../store/index.ts";

const SECRET_BYTES = 32;
const DAY_MS = 86_400_000;
/** How long the secret before a new one still signs, when nothing else is said. */
export const DEFAULT_OVERLAP_MS = DAY_MS;
export const MAX_OVERLAP_MS = 7 * DAY_MS;

/** Where a subscription's secrets are sealed for, the present one and the one before. */
export function subscriptionPlace(uid: string): string {
  return `subscription:${uid}`;
}

/** A new secret, as Standard Webhooks writes it. */
export function newSubscriptionSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

type Kept = Pick<Row<"subscriptions">, "secret" | "old_secret" | "old_secret_expire_time">;

/**
 * The columns of a secret that takes the place of `before`. That one signs until `untilMs`, and the one before it no
 * longer. Undefined: it signs no more.
 */
export function rotated(before: string, sealed: string, untilMs: number | undefined): Kept {
  if (untilMs === undefined) return { secret: sealed, old_secret: "", old_secret_expire_time: null };
  return { secret: sealed, old_secret: before, old_secret_expire_time: untilMs };
}

/** Seals anew what was sealed with an older secret key. */
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
