import { Capability, CapabilitySchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { permissionDenied } from "@moorage/kernel/errors";

/**
 * Whether the caller is an operator. The capability means something on the installation's first organization alone: who
 * owns another one does not run the server.
 */
export async function isOperator(
  call: Call,
  organization: string | undefined,
  capability: Capability = Capability.CAP_OPERATIONS_LIST,
): Promise<boolean> {
  return organization !== undefined && (await call.may(capability, organization));
}

/** Throws PERMISSION_DENIED unless the caller is an operator; see isOperator. */
export async function requireOperator(
  call: Call,
  organization: string | undefined,
  capability: Capability = Capability.CAP_OPERATIONS_LIST,
): Promise<void> {
  if (await isOperator(call, organization, capability)) return;
  throw permissionDenied("this is for operators of the installation", {
    missing: CapabilitySchema.value[capability]?.name ?? "",
  });
}
