import { QuotaState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command, whileFull } from "@moorage/kernel/core/command";
import { settleCacheSpace, wantCacheSpace } from "./cache-limit.ts";
import { countStep } from "./count-step.ts";
import { noteRise, noteState } from "./crossings.ts";
import { isCounted } from "./levels.ts";
import { writeQuotaShares } from "./measure.ts";

/**
 * Counts a part of what some quota is about that is not counted yet. Each step is exact on its own: what is written
 * meanwhile is counted with it or by a later step. `isAny` is false when all quotas are counted.
 */
export const countQuotas = command(
  "registry.countQuotas",
  async (call: Call, _input: Record<string, never>): Promise<{ isAny: boolean }> => {
    const row = await call.tx
      .selectFrom("quotas")
      .selectAll()
      .where("counted_to", "<", "9")
      .orderBy("uid")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return { isAny: false };
    const counted = await countStep(call.tx, row);
    if (isCounted(counted)) {
      await noteState(call, counted);
      // What is counted can be measured.
      call.wake("quotas");
      call.wake("evictions");
    }
    return { isAny: true };
  },
);

/**
 * Notes that the quota of a group refused something, which is emitted if it did not since there last was more space.
 */
export const noteQuotaRejection = command(
  "registry.noteQuotaRejection",
  async (call: Call, { quota }: { quota: string }): Promise<void> => {
    const row = await call.tx.selectFrom("quotas").selectAll().where("uid", "=", quota).executeTakeFirst();
    if (row !== undefined && isCounted(row)) await noteRise(call, row, QuotaState.EXCEEDED);
  },
  { runsWhileFull: () => true },
);

/** The commands of quotas beside the methods of the API. */
export const quotaCommands = [
  countQuotas,
  noteQuotaRejection,
  ...whileFull([settleCacheSpace]),
  wantCacheSpace,
  writeQuotaShares,
] as const;
