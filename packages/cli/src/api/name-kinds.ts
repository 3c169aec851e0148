// How resources of each kind are listed and called.

/** What a name names. */
export type Kind =
  | "group"
  | "repo"
  | "tag"
  | "identity"
  | "role"
  | "provider"
  | "binding"
  | "subscription"
  | "scanner"
  | "signer"
  | "trust-root"
  | "quota"
  | "signature-policy"
  | "mapping"
  | "invite"
  | "association"
  | "advisory"
  | "upstream"
  | "registry-upstream"
  | "replication"
  | "policy"
  | "library"
  | "version";

/** Where resources of a kind are listed. */
export interface KindPlace {
  /** The path of the list in REST. */
  path: string;
  /** The field of its answer that has the resources. */
  field: string;
  /** The field by which people call one; its list can be filtered by `name` when this is `name`. */
  nameField: string;
  /** What a request of the list must have, too. */
  query?: Readonly<Record<string, readonly string[]>>;
  /** Its name in a sentence. */
  word: string;
  /** How one is named, for messages. */
  form: string;
}

/** Every kind; source: the `.proto` of each. */
export const KINDS: Readonly<Record<Kind, KindPlace>> = {
  group: place("/iam/v2/groups", "groups", "name", "group", "acme/team"),
  repo: place("/registry/v2/repos", "repos", "name", "repo", "acme/team/app"),
  tag: place("/registry/v2/tags", "tags", "name", "tag", "acme/team/app:1.2"),
  identity: place("/iam/v2/identities", "identities", "name", "identity", "acme/ci"),
  role: place("/iam/v2/roles", "roles", "name", "role", "viewer or acme/deployer"),
  provider: place("/iam/v2/identityProviders", "identityProviders", "name", "identity provider", "acme/google"),
  binding: place("/iam/v2/roleBindings", "roleBindings", "uid", "role binding", "acme/team:ci:viewer"),
  subscription: place(
    "/events/v2/subscriptions",
    "subscriptions",
    "sink",
    "subscription",
    "acme:https://hooks.example",
  ),
  scanner: place("/vulnerabilities/v2/scanners", "scanners", "name", "scanner", "acme/trivy"),
  signer: place("/registry/v2/signers", "signers", "name", "signer", "acme/release"),
  "trust-root": place("/registry/v2/trustRoots", "trustRoots", "name", "trust root", "acme/sigstore"),
  // A quota has the uid of its group, and no name of its own.
  quota: place("/registry/v2/quotas", "quotas", "uid", "quota", "acme/team"),
  "signature-policy": place(
    "/registry/v2/signaturePolicies",
    "signaturePolicies",
    "name",
    "signature policy",
    "acme/release",
  ),
  mapping: place(
    "/iam/v2/externalGroupRoleMappings",
    "externalGroupRoleMappings",
    "externalGroupId",
    "mapping",
    "acme/google:developers or acme/google:developers:viewer",
  ),
  invite: place("/iam/v2/groupInvites", "groupInvites", "keyId", "invite", "its key id, or acme:ada@example.com"),
  association: place("/iam/v2/accountAssociations", "accountAssociations", "name", "account association", "acme"),
  advisory: place("/vulnerabilities/v2/advisories", "advisories", "advisoryId", "advisory", "MRG-2345-6789-cfgh"),
  upstream: place("/libraries/v2/upstreams", "upstreams", "ecosystem", "upstream", "acme/team:javascript"),
  "registry-upstream": place(
    "/registry/v2/upstreams",
    "registryUpstreams",
    "registry",
    "registry upstream",
    "acme/hub:docker.io",
  ),
  replication: place("/registry/v2/replications", "replications", "name", "replication", "acme/elsewhere"),
  policy: place("/libraries/v2/artifactPolicies", "artifactPolicies", "ecosystem", "policy", "acme/team:python"),
  library: {
    ...place("/libraries/v2/artifacts", "artifacts", "name", "library", "acme/team:left-pad"),
    query: { ecosystems: ["ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVASCRIPT"] },
  },
  // Versions are listed by library alone: findVersion looks them up.
  version: place("/libraries/v2/artifacts", "artifactVersions", "version", "version", "acme/team:left-pad@1.3.0"),
};

/** Whether a resource of the kind has the uid of its group, which has one at most. */
export function hasUidOfGroup(kind: string): boolean {
  return kind === "association" || kind === "quota";
}

/** An ecosystem as commands write it: `javascript` of ECOSYSTEM_JAVASCRIPT. */
export function ecosystemWord(value: string): string {
  return value.replace(/^ECOSYSTEM_/, "").toLowerCase();
}

function place(path: string, field: string, nameField: string, word: string, form: string): KindPlace {
  return { path, field, nameField, word, form };
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/** Whether the text is the uid of an identity that no list has: that of every caller, or of all with a token. */
export function isBuiltIn(text: string): boolean {
  return text === "everybody" || text === "signed-in";
}

/** Whether the text is a uid: 40 hexadecimal digits, then 16 more for each level below. */
export function isUid(text: string): boolean {
  return UID.test(text);
}

/** The uid of the parent; empty at the root. */
export function parentOf(uid: string): string {
  return uid.slice(0, Math.max(0, uid.lastIndexOf("/")));
}
