import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { requireHolds } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { capabilitiesOf, capabilityName, roles } from "./roles.ts";

/**
 * The role, if it can be given on the group: a custom role exists only at and below its parent. A role out of reach is
 * treated as one that does not exist: undefined.
 */
export async function roleFor(call: Call, group: string, roleUid: string): Promise<Row<"roles"> | undefined> {
  const home = parentOf(roleUid);
  return home === "" || isWithin(group, home) ? await roles.find(call.tx, roleUid) : undefined;
}

/** The violation for a role that `roleFor` does not find. */
export function noSuchRole(field: string): FieldViolation {
  return { field, description: "there is no such role for this group" };
}

/**
 * Throws INVALID_ARGUMENT for a role that `roleFor` does not find, and PERMISSION_DENIED if the caller does not hold
 * every capability of it. Source: docs/contract.md, "Capabilities and roles".
 */
export async function requireGivable(call: Call, group: string, roleUid: string, field = "roleUid"): Promise<void> {
  const role = await roleFor(call, group, roleUid);
  if (role === undefined) throw invalidArgument(noSuchRole(field));
  await requireHolds(call, capabilitiesOf(role), group, capabilityName);
}
