import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { type ArtifactPolicy, ArtifactPolicySchema, PolicyMode, UnknownLicense } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import type { FieldViolation } from "@moorage/kernel/errors";
import { allEcosystems } from "../ecosystem/lookup.ts";
import { LicensePatternError, requireLicensePattern } from "./licenses.ts";
import { purlRule, PurlRuleError } from "./purl-rules.ts";

/** How policies are stored. */
export const POLICY_LAYOUT = layoutOf(ArtifactPolicySchema);

const ownColumns = columnsOf(POLICY_LAYOUT, "artifact_policies", [
  "description",
  "mode",
  "cooldown",
  "block_malware",
  "blocked_purls",
  "allowed_purls",
  "allowed_licenses",
  "denied_licenses",
  "unknown_license",
]);

/** The columns that an update can change. `hash`: another one for each content. */
export function policyColumns(policy: ArtifactPolicy): ReturnType<typeof ownColumns> & { hash: string } {
  const columns = ownColumns(policy);
  const { description: _, ...rules } = columns;
  const hash = createHash("sha256").update(JSON.stringify([policy.ecosystem, rules]));
  return { ...columns, hash: hash.digest("hex").slice(0, 32) };
}

export const policies = resource({
  message: ArtifactPolicySchema,
  table: "artifact_policies",
  toMessage: POLICY_LAYOUT.ofRow,
  toRow: policyColumns,
});

const DEFAULT_COOLDOWN_S = 7n * 24n * 3600n;
const MAX_COOLDOWN_S = 3650n * 24n * 3600n;

/** Gives the fields that were left out their values. */
export function setDefaults(policy: ArtifactPolicy): void {
  if (policy.mode === PolicyMode.UNSPECIFIED) policy.mode = PolicyMode.PREVIEW;
  if (policy.unknownLicense === UnknownLicense.UNSPECIFIED) policy.unknownLicense = UnknownLicense.ALLOW;
  policy.cooldown ??= create(DurationSchema, { seconds: DEFAULT_COOLDOWN_S });
  policy.blockMalware ??= true;
}

/** What is wrong with a policy, beyond the rules of its fields. */
export function policyViolations(policy: ArtifactPolicy): FieldViolation[] {
  const violations: FieldViolation[] = [];
  const { cooldown } = policy;
  const ecosystem = allEcosystems().find(({ number }) => number === policy.ecosystem);
  if (ecosystem === undefined) return [{ field: "ecosystem", description: "must be one of the ecosystems" }];
  const problem = cooldown && cooldownProblem(cooldown);
  if (problem !== undefined) violations.push({ field: "cooldown", description: problem });
  const check = (field: string, texts: readonly string[], read: (text: string) => unknown): void => {
    for (const [at, text] of texts.entries()) {
      const description = problemOf(() => read(text));
      if (description !== undefined) violations.push({ field: `${field}[${at}]`, description });
    }
  };
  check("blockedPurls", policy.blockedPurls, (text) => purlRule(ecosystem, text));
  check("allowedPurls", policy.allowedPurls, (text) => purlRule(ecosystem, text));
  check("allowedLicenses", policy.allowedLicenses, requireLicensePattern);
  check("deniedLicenses", policy.deniedLicenses, requireLicensePattern);
  return violations;
}

function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof PurlRuleError || error instanceof LicensePatternError) return error.message;
    throw error;
  }
}

function cooldownProblem({ seconds, nanos }: Duration): string | undefined {
  if (seconds < 0n || nanos < 0) return "must not be negative";
  if (nanos > 999_999_999) return "must be a duration";
  return seconds > MAX_COOLDOWN_S ? "must be at most 3650 days" : undefined;
}
