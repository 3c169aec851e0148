import { audit, type AuditEvent } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { Code } from "../../errors.ts";
import type { Secrets } from "../../lib/secrets.ts";
import { rejection } from "./jwt.ts";
import { rotateSigningKey } from "./keys.ts";
import { command } from "../../core/command.ts";

/** A refresh token as it is kept: by the SHA-256 of it alone. */
export interface StoredRefreshToken {
  hash: string;
  /** Tokens that descend from one exchange: when one of them is used twice, all of them go. */
  family: string;
  identity: string;
  /** What the tokens gotten for it may, as JSON (see refresh.ts). */
  caller: string;
  expireTimeMs: number;
  /** What the audit log tells of whoever got it. Absent: nothing. */
  event?: AuditEvent;
}

const MAX_PER_IDENTITY = 1000;

/** Notes that the identity got a token. */
export const noteSeen = command(
  "auth.noteSeen",
  async (call: Call, { identity, event }: { identity: string; event?: AuditEvent }): Promise<void> => {
    if (event) await audit(call, event);
    await call.tx
      .updateTable("identities")
      .set({ last_seen_time: call.nowMs })
      .where("uid", "=", identity)
      .where((where) => where.or([where("last_seen_time", "is", null), where("last_seen_time", "<", call.nowMs)]))
      .execute();
  },
);

/**
 * Keeps a refresh token. Used ones of the identity make room first, then those that end next. Throws UNAUTHENTICATED
 * for an identity that is gone.
 */
export async function keepRefreshToken(call: Call, input: StoredRefreshToken): Promise<void> {
  const { hash, family, identity, caller, expireTimeMs, event } = input;
  if (event) await audit(call, event);
  if (!(await call.tx.selectFrom("identities").select("uid").where("uid", "=", identity).executeTakeFirst()))
    throw rejection();
  await call.tx
    .deleteFrom("refresh_tokens")
    .where("identity", "=", identity)
    .where("expire_time", "<=", call.nowMs)
    .execute();
  await makeRoom(call, identity);
  await call.tx
    .insertInto("refresh_tokens")
    .values({ hash, family, identity, caller, expire_time: expireTimeMs, used_time: null })
    .execute();
}

export const storeRefreshToken = command("auth.storeRefreshToken", keepRefreshToken);

/**
 * Puts a new token in the place of the one used; it ends when that one would have. A token used before takes its whole
 * family with it: one of its two users stole it.
 */
export const rotateRefreshToken = command(
  "auth.rotateRefreshToken",
  async (
    call: Call,
    input: { hash: string; newHash: string; event?: AuditEvent },
  ): Promise<{ outcome: "rotated" | "reused" | "unknown" }> => {
    const old = await call.tx
      .selectFrom("refresh_tokens")
      .selectAll()
      .where("hash", "=", input.hash)
      .executeTakeFirst();
    if (!old || old.expire_time <= call.nowMs) return { outcome: "unknown" };
    if (old.used_time !== null) {
      await call.tx.deleteFrom("refresh_tokens").where("family", "=", old.family).execute();
      const { identity } = old;
      await audit(call, {
        method: "sts.refresh",
        resource: identity,
        identity,
        decision: "denied",
        code: Code.Unauthenticated,
        reason: "REFRESH_TOKEN_REUSED",
      });
      return { outcome: "reused" };
    }
    await call.tx.updateTable("refresh_tokens").set({ used_time: call.nowMs }).where("hash", "=", input.hash).execute();
    await makeRoom(call, old.identity);
    await call.tx
      .insertInto("refresh_tokens")
      .values({ ...old, hash: input.newHash })
      .execute();
    if (input.event) await audit(call, input.event);
    return { outcome: "rotated" };
  },
);

async function makeRoom(call: Call, identity: string): Promise<void> {
  const { n } = await call.tx
    .selectFrom("refresh_tokens")
    .select((query) => query.fn.countAll<number>().as("n"))
    .where("identity", "=", identity)
    .executeTakeFirstOrThrow();
  const excess = Number(n) - MAX_PER_IDENTITY + 1;
  if (excess <= 0) return;
  const rows = await call.tx
    .selectFrom("refresh_tokens")
    .select("hash")
    .where("identity", "=", identity)
    .orderBy((order) => order.case().when("used_time", "is", null).then(1).else(0).end())
    .orderBy("expire_time")
    .orderBy("hash")
    .limit(excess)
    .execute();
  await call.tx
    .deleteFrom("refresh_tokens")
    .where(
      "hash",
      "in",
      rows.map(({ hash }) => hash),
    )
    .execute();
}

/** Makes a new signing key when the one in use has reached the age. Answers whether it did. */
export const rotateKeys = command(
  "auth.rotateKeys",
  async (
    call: Call,
    { maxAgeMs }: { maxAgeMs: number },
    { secrets }: { secrets: Secrets },
  ): Promise<{ rotated: boolean }> => {
    const newest = await call.tx
      .selectFrom("signing_keys")
      .select("create_time")
      .where("retire_time", "is", null)
      .orderBy("create_time", "desc")
      .executeTakeFirst();
    if (newest !== undefined && call.nowMs - newest.create_time < maxAgeMs) return { rotated: false };
    await rotateSigningKey(call.tx, secrets, call.nowMs);
    return { rotated: true };
  },
);
