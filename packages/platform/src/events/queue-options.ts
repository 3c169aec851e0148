import type { CommandOptions } from "@moorage/kernel/core/command";

/**
 * The options of the commands of the event queue. Each statement sees what was committed before it began. That is
 * enough, because the commands only add rows, or wait for locks of their own (on the sequence of events, on the pulls
 * or on a subscription's lease) and then read again; they change only events, pulls, deliveries, leases and single
 * columns of subscriptions. Serializable transactions would conflict with each other, and with every push that appends
 * to the outbox. Source: docs/adr/0012.
 */
export const QUEUE = { isolation: "read committed" } as const satisfies CommandOptions;
