import { join } from "node:path";

/** The file of the embedded database in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "moorage.db");
}
