import type { Call } from "../core/call.ts";
import { statement } from "../store/index.ts";
import { claim } from "./deliveries/claim.ts";
import { expire } from "./expire.ts";
import { pullCommands } from "./pulls.ts";
import { record } from "./deliveries/record.ts";
import { sequence } from "./sequencer.ts";

const removeLeases = statement("delete from subscription_leases");

/** Ends all leases: for the one process that may hold any, at its start. */
async function releaseAll({ tx }: Call, _request: Record<string, never>): Promise<void> {
  await removeLeases(tx);
}

export const eventCommands = {
  "events.sequence": sequence,
  "events.claim": claim,
  "events.record": record,
  "events.expire": expire,
  "events.releaseAll": releaseAll,
  ...pullCommands,
};
