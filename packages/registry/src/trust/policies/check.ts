import {
  GateMode,
  SignatureAction,
  type SignaturePolicy,
  SignaturePolicySchema,
  type SignatureRule,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import { ancestorsOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { claimViolations } from "./check-claims.ts";

/** The most steps for each character that the patterns of a policy may take together. */
const MAX_STEPS = 2_000;
const MAX_THRESHOLD = 20;

/**
 * Throws INVALID_ARGUMENT for a policy by which this server would not judge as it says, with all that is wrong: nothing
 * is accepted and then ignored. Sets the mode where it is absent.
 */
export async function checkPolicy(tx: Database, group: string, policy: SignaturePolicy): Promise<void> {
  if (policy.mode === GateMode.UNSPECIFIED) policy.mode = GateMode.PREVIEW;
  validate(SignaturePolicySchema, policy);
  const violations = [...ownViolations(policy), ...policy.rules.flatMap(ruleViolations), ...nameViolations(policy)];
  violations.push(...(await signerViolations(tx, group, policy)));
  if (violations.length > 0) throw invalidArgument(...violations);
}

function ownViolations(policy: SignaturePolicy): FieldViolation[] {
  const { on, holdTags, repoPattern, tagPattern } = policy;
  const found = purposeViolations(policy);
  for (const [at, action] of on.entries())
    if (action === SignatureAction.UNSPECIFIED)
      found.push({ field: `on[${at}]`, description: "must be PULL, PROMOTE or COPY" });
  if (holdTags && !on.includes(SignatureAction.PULL))
    found.push({ field: "holdTags", description: "is for pulls, which the policy is not for" });
  let steps = 0;
  for (const [field, text] of Object.entries({ repoPattern, tagPattern })) {
    if (text === "") continue;
    try {
      steps += compilePattern(text).steps;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      found.push({ field, description: error.message });
    }
  }
  if (steps > MAX_STEPS)
    found.push({ field: "tagPattern", description: `and repoPattern take ${steps} steps, more than ${MAX_STEPS}` });
  return found;
}

/** A policy is for images, by its rules, or for documents, or for both. */
function purposeViolations({ on, rules, documentSigners, tagPattern }: SignaturePolicy): FieldViolation[] {
  const found: FieldViolation[] = [];
  const [hasRules, isForDocuments] = [rules.length > 0, documentSigners.length > 0];
  if (!hasRules && (on.length > 0 || !isForDocuments)) found.push({ field: "rules", description: "is required" });
  if (on.length === 0 && (hasRules || !isForDocuments)) found.push({ field: "on", description: "is required" });
  if (isForDocuments && tagPattern !== "")
    found.push({
      field: "documentSigners",
      description: "excludes tagPattern: documents are about an image, whatever its tags. Make two policies",
    });
  return found;
}

function ruleViolations(rule: SignatureRule, at: number): FieldViolation[] {
  const { threshold, maxAge } = rule;
  const found = claimViolations(rule).map(({ field, description }) => ({
    field: `rules[${at}].${field}`,
    description,
  }));
  if (threshold < 0 || threshold > MAX_THRESHOLD)
    found.push({ field: `rules[${at}].threshold`, description: `must be 0 to ${MAX_THRESHOLD}` });
  if (maxAge !== undefined && (maxAge.seconds <= 0n || maxAge.nanos < 0))
    found.push({ field: `rules[${at}].maxAge`, description: "must be at least a second" });
  return found;
}

function nameViolations({ rules }: SignaturePolicy): FieldViolation[] {
  const names = rules.map(({ name }) => name);
  return names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : [{ field: `rules[${at}].name`, description: `is that of rules[${names.indexOf(name)}]` }],
  );
}

/** Signers must be of the group or of those above: one of elsewhere verifies nothing here. */
async function signerViolations(
  tx: Database,
  group: string,
  { rules, documentSigners }: SignaturePolicy,
): Promise<FieldViolation[]> {
  const lists = [
    ...rules.map(({ signers }, at) => ({ field: `rules[${at}].signers`, signers })),
    { field: "documentSigners", signers: documentSigners },
  ];
  const named = [...new Set(lists.flatMap(({ signers }) => signers))];
  if (named.length === 0) return [];
  const rows = await tx.selectFrom("signers").select("uid").where("uid", "in", named).execute();
  const there = new Set(rows.map(({ uid }) => uid));
  const groups = [...ancestorsOf(group), group];
  return lists.flatMap(({ field, signers }) =>
    signers.flatMap((uid, n) =>
      there.has(uid) && groups.includes(parentOf(uid))
        ? []
        : [
            {
              field: `${field}[${n}]`,
              description: "is not a signer of the policy's group or of one above",
            },
          ],
    ),
  );
}
