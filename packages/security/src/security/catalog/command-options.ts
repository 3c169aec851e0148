import type { CommandOptions } from "@moorage/kernel/core/command";

/**
 * The options of the commands of cataloging. Each statement sees what was committed before it began. That is enough:
 * a command that goes on with an image first changes the row of its catalog, on condition that it still holds it,
 * and one that adds or removes packages waits for a lock of all catalogs before it reads. Serializable transactions
 * could conflict with any push, which inserts into the range of waiting images that a claim reads. Their commits do not
 * wait for the disk, which pushes wait for: what a crash takes back waits again, and is read or compared again. Source:
 * docs/adr/0017.
 */
export const CATALOGING = {
  isolation: "read committed",
  durability: "deferred",
} as const satisfies CommandOptions;
