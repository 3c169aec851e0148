import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { permissionDenied } from "@moorage/kernel/errors";

/**
 * Throws PERMISSION_DENIED unless the caller may list events wherever it asks who pulled: such an answer leaves nobody
 * out. `groups`: uids.
 */
export async function requireEventsOf(call: Call, groups: readonly string[]): Promise<void> {
  for (const group of groups)
    if (!(await call.may(Capability.CAP_EVENTS_LIST, group)))
      throw permissionDenied(`who pulled is for those who may list events of ${group}`, { missing: "CAP_EVENTS_LIST" });
}
