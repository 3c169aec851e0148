import { command } from "../core/command.ts";
import { statement } from "../store/index.ts";
import { claimDeliveries } from "./deliveries/claim.ts";
import { expireEvents } from "./expire.ts";
import { keepPulls, notePulls } from "./pulls.ts";
import { QUEUE } from "./queue-options.ts";
import { recordOutcomes } from "./deliveries/record.ts";
import { sequenceEvents } from "./sequencer.ts";

const removeLeases = statement("delete from subscription_leases");

/** Ends all leases: for the one process that may hold any, at its start. */
export const releaseLeases = command(
  "events.releaseLeases",
  async ({ tx }, _request: Record<string, never>): Promise<void> => {
    await removeLeases(tx);
  },
  QUEUE,
);

/** All commands of the queue of events. */
export const eventCommands = [
  sequenceEvents,
  claimDeliveries,
  recordOutcomes,
  expireEvents,
  releaseLeases,
  keepPulls,
  notePulls,
] as const;
