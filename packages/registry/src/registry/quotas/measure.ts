import type { Logger } from "pino";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { pendingBytes } from "./pending.ts";
import { COUNTED } from "./positions.ts";
import { type ShareLimits, sharesOf } from "./shares.ts";

interface MeasureDeps {
  writer: CommandWriter;
  reader: Database;
  blobs: Pick<BlobStore, "uploadSize">;
  clock: Clock;
  log: Pick<Logger, "warn">;
  /** Beyond these a part is not measured, and is not said. Defaults to those of the parts. */
  limits?: Partial<ShareLimits & { uploads: number }>;
}

/** For how long a measurement holds, in milliseconds. */
const FRESH_MS = 55 * 60_000;
const BATCH = 50;

const isDue = `counted_to = '${COUNTED}' and is_set = 1 and not exists (select 1 from quota_shares as s
  where s.quota = quotas.uid and s.time > ? and s.time <= ?)`;
const selectDue = statement<{ uid: string }>(
  `select uid from quotas where ${isDue} and uid > ? order by uid limit ${BATCH}`,
);
// A quota that has ended meanwhile gets none.
const insertShares = statement(
  `insert into quota_shares (quota, history_bytes, pending_bytes, cached_bytes, time)
    select uid, cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as bigint) from quotas where uid = ?
    on conflict (quota) do update set history_bytes = excluded.history_bytes, pending_bytes = excluded.pending_bytes,
      cached_bytes = excluded.cached_bytes, time = excluded.time`,
);

/** Keeps what was measured of a quota. */
export const writeQuotaShares = command(
  "registry.writeQuotaShares",
  async ({ tx }: Call, { quota, history_bytes, pending_bytes, cached_bytes, time }: Row<"quota_shares">) => {
    await insertShares(tx, history_bytes, pending_bytes, cached_bytes, time, quota);
  },
  { isolation: "read committed" },
);

/** Whether a quota is to be measured. */
export async function isMeasureDue(reader: Database, nowMs: number): Promise<boolean> {
  return (await selectDue(reader, nowMs - FRESH_MS, nowMs, "")).length > 0;
}

/**
 * Measures of the groups of quotas what is history, what is cached and what open uploads hold, for those of which that
 * is older than an hour. Returns how many. `signal` stops it between two of their repos.
 */
export async function measureQuotas(
  { writer, reader, blobs, clock, log, limits = {} }: MeasureDeps,
  signal: AbortSignal,
): Promise<{ quotas: number }> {
  let quotas = 0;
  const [sinceMs, untilMs] = [clock.nowMs() - FRESH_MS, clock.nowMs()];
  const failed = (err: unknown): void => log.warn({ err }, "an upload's size cannot be read");
  const pending = await pendingBytes(reader, blobs, failed, limits.uploads);
  for (let after: string | undefined = ""; after !== undefined;) {
    const due: { uid: string }[] = await selectDue(reader, sinceMs, untilMs, after);
    for (const { uid: quota } of due) {
      const time = clock.nowMs();
      const shares = await sharesOf(reader, quota, signal, limits);
      const row = {
        quota,
        history_bytes: shares?.historyBytes ?? null,
        cached_bytes: shares?.cachedBytes ?? null,
        pending_bytes: (await pending.of(quota)) ?? null,
        time,
      };
      await writer.write(writeQuotaShares, systemCallNow(clock), row);
      quotas += 1;
    }
    after = due.length < BATCH ? undefined : due.at(-1)?.uid;
  }
  return { quotas };
}
