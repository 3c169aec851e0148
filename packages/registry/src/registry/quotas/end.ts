import type { Call } from "@moorage/kernel/core/call";

/** Removes the quota of a group, with what it has counted. */
export async function endQuota({ tx }: Pick<Call, "tx">, group: string): Promise<void> {
  await tx.deleteFrom("quota_refs").where("quota", "=", group).execute();
  await tx.deleteFrom("quota_shares").where("quota", "=", group).execute();
  await tx.deleteFrom("quotas").where("uid", "=", group).execute();
}
