import type {
  GateMode,
  SignatureAction,
  SignaturePolicy,
  SignaturePolicyInput,
  SignatureRule,
  SignatureRuleInput,
} from "../../../api/gen/registry.ts";
import { durationOfDays } from "../../../lib/durations.ts";
import { listOf } from "../../access/parts/lines.ts";
import type { Values } from "../../access/parts/resource.ts";

/** The actions that a form ticks, by the names of their fields. */
export const ACTIONS: readonly (readonly [field: string, action: SignatureAction, label: string])[] = [
  ["onPull", "SIGNATURE_ACTION_PULL", "For pulls"],
  ["onPromote", "SIGNATURE_ACTION_PROMOTE", "For promotions and rollbacks"],
  ["onCopy", "SIGNATURE_ACTION_COPY", "For what mirrors copy"],
];

/** What a form can show of the rules of a policy: one rule. More are changed by the API. */
export function formRule(policy: SignaturePolicy | undefined): SignatureRule | undefined {
  return policy?.rules.length === 1 ? policy.rules[0] : undefined;
}

/** Whether a form may send the rules: of a new policy, and of one with a single rule. */
export function hasFormRule(policy: SignaturePolicy | undefined): boolean {
  return policy === undefined || policy.rules.length === 1;
}

/** The policy that was typed. What the form does not show of its rule stays as it is. */
export function policyOf(values: Values, policy?: SignaturePolicy): SignaturePolicyInput {
  const text = (name: string): string => (values[name] ?? "").trim();
  const maxAge = durationOfDays(text("maxAge"));
  const { maxAge: _before, ...kept } = formRule(policy) ?? { name: "signed", maxAge: undefined };
  const rule: SignatureRuleInput = {
    ...kept,
    signers: listOf(values["signers"] ?? ""),
    threshold: Number(text("threshold")) || 0,
    predicateType: text("predicateType"),
    ...(maxAge !== undefined && { maxAge }),
  };
  return {
    description: text("description"),
    mode: (values["mode"] ?? "GATE_MODE_PREVIEW") as GateMode,
    on: ACTIONS.filter(([field]) => values[field] === "true").map(([, action]) => action),
    repoPattern: text("repoPattern"),
    tagPattern: text("tagPattern"),
    eachPlatform: values["eachPlatform"] === "true",
    rules: hasFormRule(policy) ? [rule] : (policy?.rules ?? []),
    ...(policy?.since !== undefined && { since: policy.since }),
  };
}
