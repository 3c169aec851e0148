import { isWithin, parentOf } from "../lib/uid.ts";
import type { Call } from "../core/call.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { requireHolds } from "../core/service.ts";
import type { Row } from "../store/index.ts";
import { capabilitiesOf, capabilityName, roles } from "./roles.ts";

/**
 * The role, where it can be given on the group: a custom one is known in its parent's subtree alone. What is out of
 * reach is as what does not exist.
 */
export async function roleFor(call: Call, group: string, roleUid: string): Promise<Row<"roles"> | undefined> {
  const home = parentOf(roleUid);
  return home === "" || isWithin(group, home) ? await roles.find(call.tx, roleUid) : undefined;
}

/** What is told of a role that `roleFor` does not find. */
export function noSuchRole(field: string): FieldViolation {
  return { field, description: "there is no such role for this group" };
}

/**
 * Throws INVALID_ARGUMENT for a role that is none there, and PERMISSION_DENIED where the caller does not hold all of
 * it. Source: contract §7.
 */
export async function requireGivable(call: Call, group: string, roleUid: string, field = "roleUid"): Promise<void> {
  const role = await roleFor(call, group, roleUid);
  if (role === undefined) throw invalidArgument(noSuchRole(field));
  await requireHolds(call, capabilitiesOf(role), group, capabilityName);
}
