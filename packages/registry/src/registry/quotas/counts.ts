import type { Call } from "@moorage/kernel/core/call";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Row, select } from "@moorage/kernel/store";
import { noteRise } from "./crossings.ts";
import { quotaExceeded } from "./errors.ts";
import { isCounted, levelOf, type Limited, usedOf } from "./levels.ts";

/**
 * Checks that so many more of a kind fit into all quotas above them, after they were counted. Throws
 * FAILED_PRECONDITION (QUOTA_EXCEEDED) when they do not; the transaction must be rolled back then.
 */
export async function requireCount(
  call: Call,
  what: Exclude<Limited, "bytes">,
  uid: string,
  needed = 1,
): Promise<void> {
  const above = ancestorsOf(uid);
  const quotas = await select<Row<"quotas">>(
    call.tx,
    `select * from quotas where uid in (${above.map(() => "?").join(", ")}) and ${what} is not null order by uid desc`,
    above,
  );
  for (const quota of quotas) {
    const limit = quota[what] ?? 0;
    const used = (await usedOf(call.tx, quota))[what];
    if (used > limit)
      throw await quotaExceeded(call.tx, { quota: quota.uid, what, limit, used: used - needed, needed });
    if (isCounted(quota)) await noteRise(call, quota, levelOf(used, limit, quota.soft_percent));
  }
}
