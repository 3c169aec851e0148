import type { CommandOptions } from "../core/command.ts";

/**
 * For commands of the queue of events. Their statements see what is committed when each begins: they only add rows, or
 * take turns by locks of their own, on the sequence of events, the pulls or a subscription's lease, and look again at
 * what they waited for; they change nothing but events, pulls, deliveries, leases, and single columns of subscriptions.
 * Serializable they would collide with each other, and with every push that appends to the outbox they read. Source:
 * docs/adr/0012.
 */
export const QUEUE = { isolation: "read committed", wakesDelivery: false } as const satisfies CommandOptions;
