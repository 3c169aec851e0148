import type { CommandOptions } from "@moorage/kernel/core/command";

/**
 * The options of the commands of feeds. Each statement sees what was committed before it began. That is enough: a
 * command of an import first changes the row of its feed, on condition that the import may still write, and so waits
 * for others of that feed; and those that define feeds wait for each other. Serializable transactions of two feeds
 * would conflict at every batch, in the row of the change numbers. Source: docs/adr/0016.
 */
export const FEEDING = { isolation: "read committed" } as const satisfies CommandOptions;
