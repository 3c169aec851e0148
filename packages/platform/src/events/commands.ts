import { command, whileFull } from "@moorage/kernel/core/command";
import { statement } from "@moorage/kernel/store";
import { claimDeliveries } from "./deliveries/claim.ts";
import { expireEvents } from "./expire.ts";
import { keepPulls, notePulls } from "./pulls.ts";
import { QUEUE } from "./queue-options.ts";
import { recordOutcomes } from "./deliveries/record.ts";
import { sequenceEvents } from "./sequencer.ts";

const removeLeases = statement("delete from subscription_leases");

/** Removes all leases. For a process that is the only one of its installation, at its start. */
export const releaseLeases = command(
  "events.releaseLeases",
  async ({ tx }, _request: Record<string, never>): Promise<void> => {
    await removeLeases(tx);
  },
  QUEUE,
);

/** The commands of the event queue. */
export const eventCommands = whileFull([
  sequenceEvents,
  claimDeliveries,
  recordOutcomes,
  expireEvents,
  releaseLeases,
  keepPulls,
  notePulls,
]);
