import { audit, type AuditEvent } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";

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
