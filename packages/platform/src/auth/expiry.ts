import { sql } from "kysely";
import type { Database } from "@moorage/kernel/store";

/** Tables of what ends by itself, by the hash of its secret. */
type Ending =
  | "sessions"
  | "sign_ins"
  | "sign_in_links"
  | "authorization_codes"
  | "device_codes"
  | "recovery_links"
  | "known_browsers";

/** Those of them that an identity has a limited number of. */
type Limited = Extract<Ending, "sessions" | "sign_in_links" | "recovery_links" | "known_browsers">;

// So many rows are deleted with each one that is added.
const BATCH = 100;

/** Deletes rows that ended by that time, in milliseconds since 1970. Call it with each row that is added. */
export async function deleteEnded(tx: Database, table: Ending, endMs: number): Promise<void> {
  const ended = tx
    .selectFrom(table)
    .select("hash")
    .where("expire_time", "<=", endMs)
    .orderBy("expire_time")
    .limit(BATCH);
  await tx.deleteFrom(table).where("hash", "in", ended).execute();
}

/**
 * Deletes what has ended, and of what an identity has what is beyond the limit once a row is added. `oldestBy`: the
 * column that says which of them are the oldest, which go.
 */
export async function deleteExcess(
  tx: Database,
  table: Limited,
  { identity, most, nowMs }: { identity: string; most: number; nowMs: number },
  oldestBy: "create_time" | "seen_time" = "create_time",
): Promise<void> {
  await deleteEnded(tx, table, nowMs);
  const excess = tx
    .selectFrom(table)
    .select("hash")
    .where("identity", "=", identity)
    .orderBy(sql.ref(oldestBy), "desc")
    .orderBy("hash")
    .limit(BATCH)
    .offset(most - 1);
  await tx.deleteFrom(table).where("hash", "in", excess).execute();
}
