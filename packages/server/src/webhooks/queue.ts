import { randomUUID } from "node:crypto";
import type { CallData } from "../core/call.ts";
import {
  type ClaimAnswer,
  claimDeliveries,
  type ClaimRequest,
  dueSubscriptions,
  hasOutbox,
  recordOutcomes,
  type RecordRequest,
  sequenceEvents,
} from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { systemCall } from "../core/system-call.ts";

/** The queue of deliveries in the database, as one process uses it. */
export interface DeliveryQueue {
  /** Numbers events that have none yet, so many at most, and gives them to subscriptions. Answers how many. */
  sequence(limit: number): Promise<number>;
  /** Subscriptions that this process could send for now. */
  due(limit: number): Promise<string[]>;
  claim(request: Omit<ClaimRequest, "holder">): Promise<ClaimAnswer>;
  /** False: the subscription is another's meanwhile, or gone. */
  record(request: Omit<RecordRequest, "holder">): Promise<boolean>;
}

export function deliveryQueue({
  transactor,
  reader,
  clock,
  config,
}: Pick<DeliveryDeps, "transactor" | "reader" | "clock" | "config">): DeliveryQueue {
  const holder = randomUUID();
  // However many subscriptions are sent for, half of the connections are left to others.
  const semaphore = createSemaphore(Math.ceil(config.databasePoolSize / 2));
  const data = (): CallData => systemCall(clock.nowMs(), randomUUID());
  return {
    async sequence(limit) {
      if (!(await hasOutbox(reader))) return 0;
      return (await transactor.write(sequenceEvents, data(), { limit, typePrefix: config.eventsPrefix })).count;
    },
    due: (limit) => dueSubscriptions(reader, { nowMs: clock.nowMs(), holder, limit }),
    claim: (request) => semaphore(() => transactor.write(claimDeliveries, data(), { ...request, holder })),
    record: async (request) =>
      (await semaphore(() => transactor.write(recordOutcomes, data(), { ...request, holder }))).held,
  };
}
