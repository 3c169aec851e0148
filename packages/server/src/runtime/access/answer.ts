import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AccessReason,
  type AccessRemedySchema,
  type AccessStepSchema,
  type Capability,
  CapabilitySchema,
} from "@moorage/api/messages";

export type Step = MessageInitShape<typeof AccessStepSchema>;
export type Remedy = MessageInitShape<typeof AccessRemedySchema>;

/** Why the answer is no, and what would have to change. */
export interface Failure {
  reason: AccessReason;
  message: string;
  remedies: Remedy[];
}

/** The names of capabilities (CAP_…), joined for a sentence. */
export function named(capabilities: readonly Capability[]): string {
  return capabilities.map((capability) => CapabilitySchema.value[capability]?.name ?? String(capability)).join(" and ");
}
