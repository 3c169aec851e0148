import { sql } from "kysely";
import { audit, type AuditEvent } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { networkOf } from "@moorage/kernel/lib/network";
import { newUid } from "@moorage/kernel/lib/uid";
import { ASSUMABLE } from "../../iam/index.ts";
import { deleteExcess } from "../expiry.ts";

/** A browser session to begin. `hash`: of its cookie; `caller`: as in refresh_tokens. */
export interface NewSession {
  hash: string;
  identity: string;
  caller: string;
  expireTimeMs: number;
  /** Whether the person has just proved an account of this installation, or that it may make one. */
  provesAccount?: boolean;
}

const MAX_PER_IDENTITY = 100;
const MAX_USER_AGENT_CHARS = 256;

/** Stores the session. At the limit per identity, those that were not used for longest end. */
export async function insertSession(
  { tx, nowMs, remoteAddress, userAgent }: Call,
  { hash, identity, caller, expireTimeMs, provesAccount = false }: NewSession,
): Promise<void> {
  await deleteExcess(tx, "sessions", { identity, most: MAX_PER_IDENTITY, nowMs }, "seen_time");
  await tx
    .insertInto("sessions")
    .values({
      hash,
      uid: newUid(identity),
      identity,
      caller,
      network: networkOf(remoteAddress),
      // PostgreSQL rejects null characters and unpaired surrogates.
      user_agent: userAgent.slice(0, MAX_USER_AGENT_CHARS).replaceAll("\0", "").toWellFormed(),
      seen_time: nowMs,
      expire_time: expireTimeMs,
      create_time: nowMs,
      account_time: provesAccount ? nowMs : 0,
    })
    .execute();
}

/** The identity, where it may be assumed now; undefined otherwise. */
export function assumable(call: Call, identity: string) {
  return call.tx
    .selectFrom("identities")
    .select(["uid", "name", "email", "provider", "relationship"])
    .where("uid", "=", identity)
    .where(sql.raw<boolean>(ASSUMABLE))
    .executeTakeFirst();
}

/** Records that the session was used, and the audit entry when there is one. */
export const seeSession = command(
  "auth.seeSession",
  async (call: Call, { hash, event }: { hash: string; event?: AuditEvent }): Promise<void> => {
    if (event) await audit(call, event);
    await call.tx
      .updateTable("sessions")
      .set({ seen_time: call.nowMs })
      .where("hash", "=", hash)
      .where("seen_time", "<", call.nowMs)
      .execute();
  },
);

export const endSession = command("auth.endSession", async (call: Call, { hash }: { hash: string }): Promise<void> => {
  const row = await call.tx.selectFrom("sessions").select("identity").where("hash", "=", hash).executeTakeFirst();
  if (row === undefined) return;
  await call.tx.deleteFrom("sessions").where("hash", "=", hash).execute();
  await audit(call, { method: "session.end", resource: row.identity, identity: row.identity });
});
