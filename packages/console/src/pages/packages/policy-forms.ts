import { call } from "../../api/call.ts";
import {
  type ArtifactPolicy,
  type ArtifactPolicyInput,
  createArtifactPolicy,
  type PolicyMode,
  updateArtifactPolicy,
} from "../../api/gen/libraries.ts";
import { daysOf, durationOfDays } from "../../lib/durations.ts";
import { listOf } from "../access/parts/lines.ts";
import type { FieldSpec, FormSpec, Values } from "../access/parts/resource.ts";
import { ECOSYSTEMS } from "./words.ts";

const MODES: readonly (readonly [PolicyMode, string])[] = [
  ["POLICY_MODE_PREVIEW", "Preview: blocks nothing, lists what it would block"],
  ["POLICY_MODE_ENFORCE", "Enforce: clients do not get what it blocks"],
];
const MASK =
  "description,mode,cooldown,blockMalware,blockedPurls,allowedPurls,allowedLicenses,deniedLicenses,unknownLicense";
const DEFAULT_DAYS = "7";

/** Says which versions of one ecosystem the clients of a group get. */
export function newPolicyForm(parent: string): FormSpec<ArtifactPolicy> {
  return {
    title: "New policy",
    action: "Create",
    description: "It applies to the group and to all groups below that have no policy of their own.",
    fields: [
      { name: "ecosystem", label: "Registry", kind: "options", options: ECOSYSTEMS, initial: ECOSYSTEMS[0]?.[0] ?? "" },
      ...fieldsOf(),
    ],
    send: (values) => {
      const ecosystem = ECOSYSTEMS.find(([id]) => id === values["ecosystem"])?.[0] ?? "ECOSYSTEM_JAVASCRIPT";
      return call(createArtifactPolicy, { parent, artifactPolicy: { ecosystem, ...inputOf(values) } });
    },
  };
}

/** Changes a policy; it counts with the next request. */
export function editPolicyForm(policy: ArtifactPolicy): FormSpec<ArtifactPolicy> {
  return {
    title: "Edit policy",
    action: "Save",
    description: "It takes effect with a client's next request.",
    fields: fieldsOf(policy),
    send: (values) =>
      call(updateArtifactPolicy, { artifactPolicy: { uid: policy.uid, ...inputOf(values) }, updateMask: MASK }),
  };
}

function fieldsOf(policy?: ArtifactPolicy): FieldSpec[] {
  const lines = (list: readonly string[] | undefined): string => (list ?? []).join("\n");
  return [
    { name: "mode", label: "Mode", kind: "options", options: MODES, initial: policy?.mode ?? "POLICY_MODE_PREVIEW" },
    {
      name: "cooldown",
      label: "Cooldown in days",
      initial: policy === undefined ? DEFAULT_DAYS : daysOf(policy.cooldown),
      help: "Versions from upstreams that are younger are blocked; 0 blocks none",
    },
    {
      name: "blockMalware",
      label: "Block versions known to be malware",
      kind: "check",
      initial: policy?.blockMalware === false ? "" : "true",
    },
    {
      name: "deniedLicenses",
      label: "Licenses that are not allowed",
      kind: "lines",
      initial: lines(policy?.deniedLicenses),
      help: "SPDX ids, one per line, such as AGPL-*",
    },
    {
      name: "allowedLicenses",
      label: "Only these licenses",
      kind: "lines",
      initial: lines(policy?.allowedLicenses),
      help: "Leave empty to allow all that are not listed above",
    },
    {
      name: "unknownLicense",
      label: "Block versions whose license is not known",
      kind: "check",
      initial: policy?.unknownLicense === "UNKNOWN_LICENSE_BLOCK" ? "true" : "",
    },
    {
      name: "blockedPurls",
      label: "Blocked packages",
      kind: "lines",
      initial: lines(policy?.blockedPurls),
      help: "Package URLs, such as pkg:npm/left-pad@1.3.0; own versions, too",
    },
    {
      name: "allowedPurls",
      label: "Exceptions",
      kind: "lines",
      initial: lines(policy?.allowedPurls),
      help: "Package URLs that are always allowed, whatever their age and license",
    },
    { name: "description", label: "What it is for", initial: policy?.description ?? "" },
  ];
}

function inputOf(values: Values): ArtifactPolicyInput {
  const list = (name: string): string[] => listOf(values[name] ?? "");
  const cooldown = durationOfDays(values["cooldown"] ?? "");
  return {
    description: values["description"] ?? "",
    mode: values["mode"] === "POLICY_MODE_ENFORCE" ? "POLICY_MODE_ENFORCE" : "POLICY_MODE_PREVIEW",
    ...(cooldown !== undefined && { cooldown }),
    blockMalware: values["blockMalware"] === "true",
    blockedPurls: list("blockedPurls"),
    allowedPurls: list("allowedPurls"),
    allowedLicenses: list("allowedLicenses"),
    deniedLicenses: list("deniedLicenses"),
    unknownLicense: values["unknownLicense"] === "true" ? "UNKNOWN_LICENSE_BLOCK" : "UNKNOWN_LICENSE_ALLOW",
  };
}
