import { Capability, CapabilitySchema } from "@moorage/api/messages";
import type { Call } from "../core/call.ts";
import { permissionDenied } from "../errors.ts";

/**
 * Throws PERMISSION_DENIED unless the caller is an operator. The capability means something on the installation's first
 * organization alone: who owns another one does not run the server.
 */
export async function requireOperator(
  call: Call,
  organization: string | undefined,
  capability: Capability = Capability.CAP_OPERATIONS_LIST,
): Promise<void> {
  if (organization !== undefined && (await call.may(capability, organization))) return;
  throw permissionDenied("this is for operators of the installation", {
    missing: CapabilitySchema.value[capability]?.name ?? "",
  });
}
