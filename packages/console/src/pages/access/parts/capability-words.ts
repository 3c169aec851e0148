import type { Capability } from "../../../api/gen/iam.ts";

/** Capabilities about one thing. */
export interface CapabilityGroup {
  /** What they are about: `Role bindings`. */
  about: string;
  items: { capability: Capability; verb: string }[];
}

const VERBS: Readonly<Record<string, string>> = {
  CREATE: "create",
  UPDATE: "change",
  LIST: "see",
  DELETE: "delete",
  GET: "read",
  APPROVE: "approve",
  ACCEPT: "accept",
};
const ABOUT: Readonly<Record<string, string>> = {
  IAM_IDENTITY: "Identities",
  TENANT_SBOMS: "SBOMs",
  TENANT_VULN_REPORTS: "Vulnerability reports of the organization",
  EVENTS_SUBSCRIPTION: "Event subscriptions",
  EVENTS: "Events",
  REPO: "Repositories",
  REPO_BLOBS: "Layers and configs of images",
  MANIFEST: "Images",
  MANIFEST_METADATA: "What is known about images",
  TAG: "Tags",
  VULN_REPORT: "Vulnerability reports of images",
  IAM_AUDIT: "Audit log",
};

/** What the capability is about and what it lets one do. */
export function wordsOf(capability: string): { about: string; verb: string } {
  const parts = capability.replace(/^CAP_/, "").split("_");
  const last = parts.at(-1) ?? "";
  const what = parts.slice(0, -1).join("_");
  const plain = what.replace(/^IAM_/, "").replaceAll("_", " ").toLowerCase();
  return {
    about: ABOUT[what] ?? plain.charAt(0).toUpperCase() + plain.slice(1),
    verb: VERBS[last] ?? last.toLowerCase(),
  };
}

/** The capabilities by what they are about, in their order. */
export function groupsOf(capabilities: readonly Capability[]): CapabilityGroup[] {
  const groups = new Map<string, CapabilityGroup>();
  for (const capability of capabilities) {
    if (capability === "CAPABILITY_UNSPECIFIED") continue;
    const { about, verb } = wordsOf(capability);
    const group = groups.get(about) ?? { about, items: [] };
    group.items.push({ capability, verb });
    groups.set(about, group);
  }
  return [...groups.values()];
}
