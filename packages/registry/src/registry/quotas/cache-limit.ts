import { QuotaState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { endQuota } from "./end.ts";
import { DEFAULT_SOFT_PERCENT } from "./levels.ts";
import { BEGINNING, COUNTED } from "./positions.ts";

/** How much of a limit is to be free, so that what comes next fits: eviction begins when less is. */
const FREE_SHARE = 0.1;
/** How much is free after an eviction, so that it does not begin again soon. */
const EVICTED_SHARE = 0.2;
/** More than this share of a limit is not made space for at a time: all that others pull would go for it. */
const LARGEST_SHARE = 0.8;

/** How much a group holds that stands for another registry, and how much it may, in bytes. */
export interface CacheUse {
  group: string;
  used: number;
  limit: number;
  /** Up to how much is to be left. */
  target: number;
}

type CacheRow = Pick<Row<"quotas">, "uid" | "used_bytes" | "cache_bytes" | "wanted_bytes">;

const insertLimit = statement(
  `insert into quotas (uid, parent, soft_percent, used_bytes, counted_to, state, cache_bytes, is_set, create_time, update_time)
    values (?, ?, ?, 0, '${BEGINNING}', ?, ?, 0, ?, ?)
    on conflict (uid) do update set cache_bytes = excluded.cache_bytes, wanted_bytes = 0`,
);
const endLimit = statement<{ is_set: number }>(
  "update quotas set cache_bytes = null, wanted_bytes = 0 where uid = ? returning is_set",
);
const selectUses = statement<CacheRow & { disabled: number }>(
  `select q.uid, q.used_bytes, q.cache_bytes, q.wanted_bytes, u.disabled from quotas as q
    join registry_upstreams as u on u.parent = q.uid where q.cache_bytes is not null and q.counted_to = '${COUNTED}'
    order by q.used_bytes * 1.0 / q.cache_bytes desc, q.uid`,
);
const selectUse = statement<CacheRow>(
  "select uid, used_bytes, cache_bytes, wanted_bytes from quotas where uid = ? and cache_bytes is not null",
);
const wantBytes = statement<{ uid: string }>(
  `update quotas set wanted_bytes = ? where uid = ? and cache_bytes is not null and wanted_bytes < ?
    and ? <= cache_bytes * ${LARGEST_SHARE} returning uid`,
);
const settleBytes = statement("update quotas set wanted_bytes = 0 where uid = ? and wanted_bytes > 0");

/** Sets how many bytes a group may hold by what comes from the registry that it stands for; 0 for no limit. */
export async function setCacheLimit(call: Call, group: string, bytes: number): Promise<void> {
  await putCacheLimit(call, group, bytes);
  if (bytes === 0) return;
  call.wake("quotas");
  call.wake("evictions");
}

/** The same for what repairs a database, while nothing serves it. */
export async function putCacheLimit(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  group: string,
  bytes: number,
): Promise<void> {
  if (bytes > 0) {
    await insertLimit(tx, group, parentOf(group), DEFAULT_SOFT_PERCENT, QuotaState.COUNTING, bytes, nowMs, nowMs);
    return;
  }
  const [row] = await endLimit(tx, group);
  if (row?.is_set === 0) await endQuota({ tx }, group);
}

/** Whether so much is used of what is kept of another registry that some of it is to go. */
export function isCacheNearlyFull(row: Pick<CacheRow, "used_bytes" | "cache_bytes">): boolean {
  return row.cache_bytes !== null && row.used_bytes > row.cache_bytes * (1 - FREE_SHARE);
}

/**
 * The groups of which something is to go, so that there is space for what is pulled next. Nothing goes of those whose
 * registry is not asked, since it would not come again.
 */
export async function fullCaches(db: Database): Promise<CacheUse[]> {
  const rows = (await selectUses(db)).filter(({ disabled }) => disabled === 0);
  return rows.filter((row) => row.wanted_bytes > 0 || isCacheNearlyFull(row)).map(useOf);
}

/** At most so many groups have time series of their own: the fullest. */
const MAX_FIGURED = 50;

/** How much groups hold that stand for other registries and are limited, the fullest first. */
export async function cacheUses(db: Database): Promise<CacheUse[]> {
  return (await selectUses(db)).slice(0, MAX_FIGURED).map(useOf);
}

/** How much such a group holds now; undefined when there is no limit any longer. */
export async function cacheUse(db: Database, group: string): Promise<CacheUse | undefined> {
  const [row] = await selectUse(db, group);
  return row && useOf(row);
}

function useOf({ uid, used_bytes: used, cache_bytes, wanted_bytes: wanted }: CacheRow): CacheUse {
  const limit = cache_bytes ?? 0;
  return { group: uid, used, limit, target: Math.max(0, Math.min(limit * (1 - EVICTED_SHARE), limit - wanted)) };
}

/** Notes that content did not fit into what is kept of another registry, so that space is made for it. */
export const wantCacheSpace = command(
  "registry.wantCacheSpace",
  async (call: Call, { group, bytes }: { group: string; bytes: number }): Promise<void> => {
    if ((await wantBytes(call.tx, bytes, group, bytes, bytes)).length > 0) call.wake("evictions");
  },
);

/** Notes that space was made, as far as it could be. */
export const settleCacheSpace = command(
  "registry.settleCacheSpace",
  async ({ tx }: Call, { group }: { group: string }): Promise<void> => {
    await settleBytes(tx, group);
  },
);
