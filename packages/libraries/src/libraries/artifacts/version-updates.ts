import {
  type ArtifactVersion,
  ArtifactVersionSchema,
  CapabilitySchema,
  type UpdateArtifactVersionRequest,
} from "@moorage/api/messages";
import { create } from "@bufbuild/protobuf";
import { applyMask } from "@moorage/kernel/aip/masks";
import { validateChange } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { failedPrecondition, type FieldViolation, invalidArgument, permissionDenied } from "@moorage/kernel/errors";
import { requireTerms } from "@moorage/platform/iam";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";
import { allEcosystems, ecosystemOf } from "../ecosystem/lookup.ts";
import { settleWithdrawn, withdraw } from "./changes.ts";
import { ORIGIN } from "./names.ts";
import { versionWithArtifact } from "./rows.ts";
import { messageOfVersion } from "./version-message.ts";

/**
 * Yanks or deprecates a version, or takes that back, as the clients of its ecosystem do. `terms`: as of publishing,
 * those that block pushes must be accepted. Throws INVALID_ARGUMENT for what the ecosystem does not know. Sources: PEP
 * 592; npm, "deprecate".
 */
export async function updateVersion(
  call: Call,
  { artifactVersion: patch = create(ArtifactVersionSchema), updateMask }: UpdateArtifactVersionRequest,
  terms: readonly TermsDocument[],
): Promise<ArtifactVersion> {
  const { artifact, version } = await versionWithArtifact(call.tx, patch.uid);
  const rules = ecosystemOf(artifact.ecosystem);
  await requirePublisher(call, artifact.parent, rules);
  const before = await messageOfVersion(call.tx, artifact, version);
  const after = applyMask(ArtifactVersionSchema, before, patch, updateMask);
  // The reason goes with what it is the reason of.
  if (!after.yanked && after.yankReason === before.yankReason) after.yankReason = "";
  validateChange(ArtifactVersionSchema, before, after);
  const violations = violationsOf(after, rules);
  if (violations.length > 0) throw invalidArgument(...violations);
  const changes = {
    ...((after.yanked !== before.yanked || after.yankReason !== before.yankReason) && {
      yanked: after.yanked ? after.yankReason : null,
    }),
    ...(after.deprecation !== before.deprecation && {
      deprecated: after.deprecation === "" ? null : after.deprecation,
    }),
  };
  if (Object.keys(changes).length > 0) {
    if (version.origin === ORIGIN.upstream) throw ofUpstream(artifact.name, version.version);
    await withdraw(call, artifact, version, changes);
    await settleWithdrawn(call, artifact);
  }
  if (terms.length > 0) await requireTerms(call, terms, "push", [artifact.parent]);
  return await messageOfVersion(call.tx, artifact, { ...version, update_time: call.nowMs, ...changes });
}

/** What an upstream says of its versions is the upstream's. */
function ofUpstream(name: string, version: string): Error {
  return failedPrecondition({
    type: "UPSTREAM",
    subject: `${name}@${version}`,
    description: `${name}@${version} comes from the upstream, which says whether it is yanked or deprecated; a policy can block it`,
  });
}

async function requirePublisher(call: Call, group: string, { publish }: Ecosystem): Promise<void> {
  if (await call.may(publish, group)) return;
  const missing = CapabilitySchema.value[publish]?.name ?? "";
  throw permissionDenied(`the caller lacks ${missing}`, { missing });
}

function violationsOf({ yanked, yankReason, deprecation }: ArtifactVersion, { versions }: Ecosystem): FieldViolation[] {
  const violations: FieldViolation[] = [];
  if (yanked && !versions.withdrawals.includes("yanked"))
    violations.push({ field: "yanked", description: `only versions of ${thoseWith("yanked")} are yanked` });
  if (!yanked && yankReason !== "")
    violations.push({ field: "yankReason", description: "must be empty of a version that is not yanked" });
  if (deprecation !== "" && !versions.withdrawals.includes("deprecated"))
    violations.push({
      field: "deprecation",
      description: `only versions of ${thoseWith("deprecated")} are deprecated`,
    });
  return violations;
}

function thoseWith(withdrawal: Ecosystem["versions"]["withdrawals"][number]): string {
  const having = allEcosystems().filter(({ versions }) => versions.withdrawals.includes(withdrawal));
  return having.map(({ artifacts }) => artifacts).join(" and ");
}
