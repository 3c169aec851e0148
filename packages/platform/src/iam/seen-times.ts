import { type Database, statement } from "@moorage/kernel/store";

const updateSeen = statement(
  "update identities set last_seen_time = ? where uid = ? and (last_seen_time is null or last_seen_time < ?)",
);

/** Notes when the identity was seen, in milliseconds since 1970, unless it was seen later. */
export async function noteIdentitySeen(tx: Database, identity: string, timeMs: number): Promise<void> {
  await updateSeen(tx, timeMs, identity, timeMs);
}
