import {
  type CapabilitiesService,
  Capability,
  CapabilitySchema,
  TestCapabilitiesRequestSchema,
} from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Service } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";

const ALL: readonly Capability[] = CapabilitySchema.values
  .map(({ number }) => number as Capability)
  .filter((number) => number !== Capability.CAPABILITY_UNSPECIFIED);

/** What the caller holds on a resource. Source: docs/contract.md, "Capabilities and roles". */
export function capabilitiesService(): Service<typeof CapabilitiesService> {
  return {
    async testCapabilities(call, request) {
      const violations = violationsOf(TestCapabilitiesRequestSchema, request);
      if (violations.length > 0) throw invalidArgument(...violations);
      const { uid, capabilities } = request;
      const asked = capabilities.length === 0 ? ALL : [...new Set(capabilities)].toSorted((one, other) => one - other);
      const held: Capability[] = [];
      for (const capability of asked) if (await call.may(capability, uid)) held.push(capability);
      return { capabilities: held };
    },
  };
}
