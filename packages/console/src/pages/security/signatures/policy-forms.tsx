import { call } from "../../../api/call.ts";
import { createSignaturePolicy, type SignaturePolicy, updateSignaturePolicy } from "../../../api/gen/registry.ts";
import { daysOf } from "../../../lib/durations.ts";
import { parentUid } from "../../../lib/uid.ts";
import type { FieldSpec, FormSpec } from "../../access/parts/resource.ts";
import { ACTIONS, formRule, hasFormRule, policyOf } from "./policy-input.ts";
import { PolicyPreview } from "./policy-preview.tsx";
import { SignerChoice } from "./signer-choice.tsx";

const FIELDS = ["description", "mode", "on", "repoPattern", "tagPattern", "eachPlatform"];
const MODES = [
  ["GATE_MODE_PREVIEW", "Preview: rejects nothing, and emits events"],
  ["GATE_MODE_ENFORCE", "Enforce: rejects what is not signed"],
] as const;

/** Says which signatures the images of a group and of all groups below it need. */
export function newPolicyForm(group: string): FormSpec<SignaturePolicy> {
  return {
    title: "New signature policy",
    action: "Create",
    description: "All policies of a group and of the groups above apply together. A new one starts as a preview.",
    fields: [
      { name: "name", label: "Name", help: "Such as signed" },
      ...fieldsOf(group),
      {
        name: "isNewOnly",
        label: "Existing images pass",
        kind: "check",
        help: "Only images that are pushed from now on need signatures",
      },
    ],
    preview: (values) => <PolicyPreview group={group} policy={policyOf(values)} />,
    send: (values) =>
      call(createSignaturePolicy, {
        parent: group,
        signaturePolicy: {
          ...policyOf(values),
          name: values["name"] ?? "",
          ...(values["isNewOnly"] === "true" && { since: new Date().toISOString() }),
        },
      }),
  };
}

/** Changes a policy; it counts for the next pull. */
export function editPolicyForm(policy: SignaturePolicy): FormSpec<SignaturePolicy> {
  const group = parentUid(policy.uid);
  const hasRule = hasFormRule(policy);
  return {
    title: `Edit ${policy.name}`,
    action: "Save",
    description: hasRule
      ? "It takes effect with the next pull."
      : `It takes effect with the next pull. Change its ${policy.rules.length} rules with the command line.`,
    fields: fieldsOf(group, policy),
    preview: (values) => <PolicyPreview group={group} policy={policyOf(values, policy)} />,
    send: (values) =>
      call(updateSignaturePolicy, {
        signaturePolicy: { ...policyOf(values, policy), uid: policy.uid },
        updateMask: [...FIELDS, ...(hasRule ? ["rules"] : [])].join(","),
      }),
  };
}

function fieldsOf(group: string, policy?: SignaturePolicy): FieldSpec[] {
  return [
    ...(hasFormRule(policy) ? ruleFields(group, policy) : []),
    {
      name: "repoPattern",
      label: "Which images",
      initial: policy?.repoPattern ?? "",
      help: "RE2, which the whole path must match, such as acme/prod/.*; empty: all",
    },
    {
      name: "tagPattern",
      label: "Which tags",
      initial: policy?.tagPattern ?? "",
      help: "Images that such a tag points to, or has pointed to; empty: all, also without a tag",
    },
    { name: "mode", label: "Mode", kind: "options", options: MODES, initial: policy?.mode ?? "GATE_MODE_PREVIEW" },
    ...ACTIONS.map(([name, action, label]): FieldSpec => ({
      name,
      label,
      kind: "check",
      initial: (policy?.on.includes(action) ?? action === "SIGNATURE_ACTION_PULL") ? "true" : "",
    })),
    {
      name: "eachPlatform",
      label: "Each platform must be signed",
      kind: "check",
      initial: policy?.eachPlatform === true ? "true" : "",
      help: "Otherwise an index passes if it is signed, or if all its images are",
    },
    { name: "description", label: "What it is for", initial: policy?.description ?? "" },
  ];
}

function ruleFields(group: string, policy: SignaturePolicy | undefined): FieldSpec[] {
  const rule = formRule(policy);
  return [
    {
      name: "signers",
      label: "Signed by any of",
      initial: rule?.signers.join("\n") ?? "",
      render: (field) => <SignerChoice {...field} group={group} />,
    },
    {
      name: "threshold",
      label: "By how many different keys or identities",
      initial: String(Math.max(rule?.threshold ?? 1, 1)),
    },
    {
      name: "predicateType",
      label: "What is signed",
      initial: rule?.predicateType ?? "",
      help: "Empty: the image itself. Otherwise what an attestation states, such as https://slsa.dev/provenance/v1",
    },
    {
      name: "maxAge",
      label: "Maximum age in days",
      initial: daysOf(rule?.maxAge),
      help: "By the word of a log or a time stamp; empty: of any age",
    },
  ];
}
