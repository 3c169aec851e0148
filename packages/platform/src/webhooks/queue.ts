import { randomUUID } from "node:crypto";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { createSemaphore } from "@moorage/kernel/lib/semaphore";
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

/** The queue of deliveries in the database, as one process uses it. */
export interface DeliveryQueue {
  /** Numbers at most `limit` new events and creates their deliveries. Returns how many events it numbered. */
  sequence(limit: number): Promise<number>;
  /** Subscriptions with due deliveries that no other process sends for. */
  due(limit: number): Promise<string[]>;
  claim(request: Omit<ClaimRequest, "holder">): Promise<ClaimAnswer>;
  /** False when another process holds the subscription by now, or it was deleted. */
  record(request: Omit<RecordRequest, "holder">): Promise<boolean>;
}

export function deliveryQueue({
  transactor,
  reader,
  clock,
  config,
}: Pick<DeliveryDeps, "transactor" | "reader" | "clock" | "config">): DeliveryQueue {
  const holder = randomUUID();
  // Half of the database connections are left to requests, however many subscriptions are sent for.
  const semaphore = createSemaphore(Math.ceil(config.databasePoolSize / 2));
  const data = (): CallData => systemCallNow(clock);
  return {
    async sequence(limit) {
      if (!(await hasOutbox(reader))) return 0;
      return (await transactor.write(sequenceEvents, data(), { limit, typePrefix: config.eventsPrefix })).count;
    },
    due: (limit) => dueSubscriptions(reader, { agreedMs: clock.agreedMs(), holder, limit }),
    claim: (request) => semaphore(() => transactor.write(claimDeliveries, data(), { ...request, holder })),
    record: async (request) =>
      (await semaphore(() => transactor.write(recordOutcomes, data(), { ...request, holder }))).held,
  };
}
