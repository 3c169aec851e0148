import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type SignatureAction,
  SignatureExemptionSchema,
  type SignaturePolicy,
  SignaturePolicySchema,
  type SignatureRule,
  SignatureRuleSchema,
} from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import type { Row } from "@moorage/kernel/store";

const LAYOUT = layoutOf(SignaturePolicySchema, { without: ["on", "rules"] });
const plainColumns = columnsOf(LAYOUT, "signature_policies", [
  "name",
  "description",
  "mode",
  "repo_pattern",
  "tag_pattern",
  "each_platform",
  "since",
  "hold_tags",
  "document_signers",
]);

/** The columns that an update can change, of a policy that was checked. */
export function policyColumns(policy: SignaturePolicy) {
  const actions = JSON.stringify([...new Set(policy.on)].sort());
  const rules = JSON.stringify(policy.rules.map((rule) => toJson(SignatureRuleSchema, rule)));
  return { ...plainColumns(policy), actions, rules };
}

/** Empty where they cannot be read: the policy lets nothing pass then, see compilePolicy. */
function listIn<T>(text: string, read: (each: JsonValue) => T): T[] {
  try {
    return (JSON.parse(text) as JsonValue[]).map(read);
  } catch {
    return [];
  }
}

export const policies = resource({
  message: SignaturePolicySchema,
  table: "signature_policies",
  toMessage: (row: Row<"signature_policies">) => ({
    ...LAYOUT.fieldsOf(row),
    on: listIn(row.actions, (each) => each as SignatureAction),
    rules: listIn(row.rules, (each): SignatureRule => fromJson(SignatureRuleSchema, each)),
  }),
  toRow: policyColumns,
});

const EXEMPTION_LAYOUT = layoutOf(SignatureExemptionSchema);

/** Exemptions are made and deleted, never changed. */
export const exemptions = resource({
  message: SignatureExemptionSchema,
  table: "signature_exemptions",
  toMessage: EXEMPTION_LAYOUT.ofRow,
  toRow: () => ({}),
});
