import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Quota, QuotaSchema, type QuotaState, QuotaUsageSchema } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { isCounted, type Used } from "./levels.ts";

const limitOf = (limit: number | null): { value?: bigint } => (limit === null ? {} : { value: BigInt(limit) });

/** A quota without its usage: repos, tags and libraries are counted elsewhere. */
export function quotaInit(row: Row<"quotas">): MessageInitShape<typeof QuotaSchema> {
  const { uid, soft_percent, state, create_time, update_time } = row;
  return {
    uid,
    bytes: limitOf(row.bytes).value,
    repos: limitOf(row.repos).value,
    tags: limitOf(row.tags).value,
    libraries: limitOf(row.libraries).value,
    softPercent: soft_percent,
    state: state as QuotaState,
    createTime: timestamp(create_time),
    updateTime: timestamp(update_time),
  };
}

/** A quota with what is used of it. `shares`: what was measured of that; undefined before it was. */
export function quotaMessage(
  row: Row<"quotas">,
  { bytes, repos, tags, libraries }: Used,
  shares?: Row<"quota_shares">,
): Quota {
  const used = {
    ...(shares !== undefined && sharesInit(shares)),
    ...(isCounted(row) && bytes !== undefined && { bytes: BigInt(bytes) }),
    repos: BigInt(repos),
    tags: BigInt(tags),
    libraries: BigInt(libraries),
  };
  const quota = create(QuotaSchema, quotaInit(row));
  quota.used = create(QuotaUsageSchema, used);
  return quota;
}

function sharesInit(shares: Row<"quota_shares">): MessageInitShape<typeof QuotaUsageSchema> {
  const { history_bytes: history, pending_bytes: pending, cached_bytes: cached, time } = shares;
  return {
    ...(history !== null && { historyBytes: BigInt(history) }),
    ...(pending !== null && { pendingBytes: BigInt(pending) }),
    ...(cached !== null && { cachedBytes: BigInt(cached) }),
    measureTime: timestamp(Number(time)),
  };
}
