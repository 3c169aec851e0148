import type { Call } from "../../call.ts";

/** The browser was here. */
async function seeSession(call: Call, { hash }: { hash: string }): Promise<void> {
  await call.tx.updateTable("sessions").set({ seen_time: call.nowMs }).where("hash", "=", hash).where("seen_time", "<", call.nowMs).execute();
}

async function endSession(call: Call, { hash }: { hash: string }): Promise<void> {
  await call.tx.deleteFrom("sessions").where("hash", "=", hash).execute();
}

/** What browsers that are signed in write: commands of the transactor. */
export const sessionCommands = { "access.seeSession": seeSession, "access.endSession": endSession };
