import type { Pool } from "pg";

const EVERY_MS = 60_000;

/**
 * A function that logs which transaction of the server has been open for longest, at most once a minute: who uses up
 * what all share is commonly one that was forgotten. What belongs to other roles is seen by roles with
 * `pg_read_all_stats` only.
 */
export function oldestTransactionLog(pool: Pool, log: (error: Error, message: string) => void): () => void {
  let loggedMs = -Infinity;
  const look = async (): Promise<void> => {
    const { rows } = await pool.query<{ text: string }>(
      `select format('process %s, application "%s", role %s, database %s: %s, open for %s s', pid, application_name, usename, datname,
          state, round(extract(epoch from clock_timestamp() - xact_start))) as text
        from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() order by xact_start limit 1`,
    );
    log(new Error(rows[0]?.text ?? "not known"), "the oldest transaction of the database server");
  };
  return () => {
    const nowMs = performance.now();
    if (nowMs - loggedMs < EVERY_MS) return;
    loggedMs = nowMs;
    look().catch((error: Error) => log(error, "the oldest transaction of the database server is not known"));
  };
}
