import type { Call } from "../call.ts";
import { statement } from "../store/index.ts";
import { claim } from "./claim.ts";
import { expire } from "./expire.ts";
import { pullCommands } from "./pull-notes.ts";
import { record } from "./record.ts";
import { sequence } from "./sequence.ts";

const removeLeases = statement("delete from subscription_leases");

/** Ends all leases: for the one process that may hold any, at its start. */
async function releaseAll({ tx }: Call, _request: Record<string, never>): Promise<void> {
  await removeLeases(tx);
}

export const eventCommands = {
  "events.sequence": sequence, "events.claim": claim, "events.record": record, "events.expire": expire, "events.releaseAll": releaseAll,
  ...pullCommands,
};
