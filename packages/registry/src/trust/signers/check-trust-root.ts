import { invalidArgument } from "@moorage/kernel/errors";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";

/**
 * Throws INVALID_ARGUMENT when signers of the group cannot name the trust root: it belongs neither to the group nor to
 * one above it. An empty one is that of the settings.
 */
export async function requireTrustRoot(tx: Database, group: string, trustRoot: string): Promise<void> {
  if (trustRoot === "") return;
  const named = tx.selectFrom("trust_roots").select("uid").where("uid", "=", trustRoot);
  if (isWithin(group, parentOf(trustRoot)) && (await named.executeTakeFirst()) !== undefined) return;
  throw invalidArgument({
    field: "keyless.trustRoot",
    description: "there is no such trust root in the signer's group or above it: moorage trust-roots list",
  });
}
