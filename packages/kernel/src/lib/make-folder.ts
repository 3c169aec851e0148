import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

/**
 * Makes the folder, and those above it, for its owner alone. Throws when that cannot be done. A relative path is made
 * absolute first: Node's recursive mkdir never returns for one when the current folder was deleted.
 */
export function makeFolder(path: string): void {
  mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
}
