import type { CommandOptions } from "@moorage/kernel/core/command";

/**
 * The options of the commands that look for signatures and write what they are worth. Each statement sees what was
 * committed before it began, which is enough: a command takes the lock of all signatures first, or changes the row of
 * its reading on condition that it still holds it. What a crash takes back is looked at again.
 */
export const VERIFYING = {
  isolation: "read committed",
  durability: "deferred",
} as const satisfies CommandOptions;

/** The states of signature_readings. */
export const READING_STATE = { waiting: 1, done: 2, failed: 3 } as const;

/** The states of certificate_statuses. */
export const STATUS_STATE = { none: 0, good: 1, revoked: 2, unknown: 3 } as const;
