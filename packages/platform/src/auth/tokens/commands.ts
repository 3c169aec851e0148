import { audit, type AuditEvent } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { Code } from "@moorage/kernel/errors";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { noteIdentitySeen } from "../../iam/index.ts";
import { rejection } from "./jwt.ts";
import { rotateSigningKey } from "./keys.ts";

/** A refresh token as it is stored: only its SHA-256. */
export interface StoredRefreshToken {
  hash: string;
  /** The tokens that descend from one exchange: when one of them is used twice, all of them are revoked. */
  family: string;
  identity: string;
  /** What the tokens issued for it allow, as JSON (see refresh.ts). */
  caller: string;
  expireTimeMs: number;
  /** The audit entry of the exchange or sign-in. Without it nothing is audited. */
  event?: AuditEvent;
}

const MAX_PER_IDENTITY = 1000;

/** Records that the identity got a token, and the audit entry when there is one. */
export const noteSeen = command(
  "auth.noteSeen",
  async (call: Call, { identity, event }: { identity: string; event?: AuditEvent }): Promise<void> => {
    if (event) await audit(call, event);
    await noteIdentitySeen(call.tx, identity, call.nowMs);
  },
);

/** Records when identities were last seen, as pairs of uid and milliseconds since 1970. */
export const noteAllSeen = command(
  "auth.noteAllSeen",
  async (call: Call, { times }: { times: [identity: string, timeMs: number][] }): Promise<void> => {
    for (const [identity, timeMs] of times) await noteIdentitySeen(call.tx, identity, timeMs);
  },
);

/**
 * Stores a refresh token. At the limit per identity, used ones are deleted first, then those that end next. Throws
 * UNAUTHENTICATED when the identity was deleted.
 */
export async function insertRefreshToken(call: Call, input: StoredRefreshToken): Promise<void> {
  const { hash, family, identity, caller, expireTimeMs, event } = input;
  if (event) await audit(call, event);
  if (!(await call.tx.selectFrom("identities").select("uid").where("uid", "=", identity).executeTakeFirst()))
    throw rejection();
  await call.tx
    .deleteFrom("refresh_tokens")
    .where("identity", "=", identity)
    .where("expire_time", "<=", call.nowMs)
    .execute();
  await removeExcess(call, identity);
  await call.tx
    .insertInto("refresh_tokens")
    .values({
      hash,
      family,
      identity,
      caller,
      expire_time: expireTimeMs,
      used_time: null,
      create_time: call.nowMs,
      seen_time: call.nowMs,
    })
    .execute();
}

export const storeRefreshToken = command("auth.storeRefreshToken", insertRefreshToken);

/**
 * Replaces a refresh token by a new one, which ends when the old one would have. Reuse of a replaced token revokes its
 * whole family, since one of its two users stole it.
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
    await removeExcess(call, old.identity);
    await call.tx
      .insertInto("refresh_tokens")
      .values({ ...old, hash: input.newHash, seen_time: call.nowMs })
      .execute();
    if (input.event) await audit(call, input.event);
    return { outcome: "rotated" };
  },
);

async function removeExcess(call: Call, identity: string): Promise<void> {
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

/** Creates a new signing key when the current one has reached `maxAgeMs`. Answers whether it did. */
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
