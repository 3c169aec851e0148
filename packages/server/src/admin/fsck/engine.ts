import { connect, databasePath, isDamage } from "@moorage/kernel/store";

const MAX_DAMAGES = 100;

/**
 * SQLite's own check of every page, row and index of its file: what it found, in its words; empty when all is well.
 * Source: https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
export function damagesOf(dataDir: string): string[] {
  const database = connect(databasePath(dataDir), { readOnly: true });
  const found: string[] = [];
  try {
    for (const row of database.prepare(`pragma integrity_check(${MAX_DAMAGES})`).iterate())
      found.push(...String(row["integrity_check"]).split("\n"));
  } catch (error) {
    // The check itself may end early at a page that it cannot read.
    if (!isDamage(error)) throw error;
    found.push(error.message);
  } finally {
    database.close();
  }
  return found.filter((line) => line !== "ok" && !line.startsWith("***"));
}
