// What can stand in the files of `moorage apply`: each kind, where it is in the API, and what makes two the same.
import type { DescMessage } from "@bufbuild/protobuf";
import {
  AccountAssociationSchema,
  ArtifactPolicySchema,
  ExternalGroupRoleMappingSchema,
  GroupSchema,
  IdentityProviderSchema,
  IdentitySchema,
  RepoSchema,
  QuotaSchema,
  RegistryUpstreamSchema,
  ReplicationSchema,
  RoleBindingSchema,
  RoleSchema,
  ScannerSchema,
  SignaturePolicySchema,
  SignerSchema,
  SubscriptionSchema,
  TagSchema,
  TrustRootSchema,
  UpstreamSchema,
} from "@moorage/api/messages";
import { objectIn, textIn } from "../api/json-fields.ts";
import type { Kind } from "../api/name-kinds.ts";
import type { JsonObject } from "../api/rest.ts";

/** A field that names another resource: by its path of names in a file, by its uid in the API. */
export interface Reference {
  /** The parts of its path; `*` stands for every element of a list and every value of a map. */
  readonly at: readonly string[];
  /** What it may name; the first of these that there is. */
  readonly kinds: readonly Kind[];
}

/** A kind of documents. */
export interface KindSpec {
  /** As a document names it. */
  readonly name: string;
  readonly kind: Kind;
  readonly message: DescMessage;
  /** Where it is listed, made and changed. */
  readonly path: string;
  /** The field of a list's answer. */
  readonly field: string;
  /** What it is below. */
  readonly parent: "group" | "repo" | "provider";
  /** The fields of a document that are called otherwise in the API. */
  readonly renamed: Readonly<Record<string, string>>;
  readonly references: readonly Reference[];
  /** Secrets by the fields after whose change the server needs them anew. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  /** How an existing one is changed: by a mask, by making it again, or not at all. */
  readonly changes: "mask" | "again" | "never";
  /** The fields, as a document names them, that say which one of its parent's it is. */
  readonly key: readonly string[];
  /** The same of a resource of the API, in that order. */
  keyOf(item: JsonObject): string;
}

const NAME = ["name"];
const byName = (item: JsonObject): string => textIn(item, "name");
const COMMON = { renamed: {}, references: [], secrets: {}, changes: "mask", key: NAME, keyOf: byName } as const;

/** A group has at most one of each ecosystem. */
const BY_ECOSYSTEM = { key: ["ecosystem"], keyOf: (item: JsonObject): string => textIn(item, "ecosystem") } as const;

/** All kinds, in an order in which what others name comes first. */
export const KIND_SPECS: readonly KindSpec[] = [
  {
    ...COMMON,
    name: "Group",
    kind: "group",
    message: GroupSchema,
    path: "/iam/v2/groups",
    field: "groups",
    parent: "group",
  },
  {
    ...COMMON,
    name: "Role",
    kind: "role",
    message: RoleSchema,
    path: "/iam/v2/roles",
    field: "roles",
    parent: "group",
  },
  {
    ...COMMON,
    name: "Identity",
    kind: "identity",
    message: IdentitySchema,
    path: "/iam/v2/identities",
    field: "identities",
    parent: "group",
  },
  {
    ...COMMON,
    name: "RoleBinding",
    kind: "binding",
    message: RoleBindingSchema,
    path: "/iam/v2/roleBindings",
    field: "roleBindings",
    parent: "group",
    renamed: { identity: "identityUid", role: "roleUid" },
    references: [
      { at: ["identityUid"], kinds: ["identity"] },
      { at: ["roleUid"], kinds: ["role"] },
    ],
    changes: "never",
    key: ["identity", "role"],
    keyOf: (item) =>
      [
        textIn(objectIn(item, "identity"), "uid") || textIn(item, "identityUid"),
        textIn(objectIn(item, "role"), "uid") || textIn(item, "roleUid"),
      ].join(" "),
  },
  {
    ...COMMON,
    name: "IdentityProvider",
    kind: "provider",
    message: IdentityProviderSchema,
    path: "/iam/v2/identityProviders",
    field: "identityProviders",
    parent: "group",
    references: [{ at: ["defaultRole"], kinds: ["role"] }],
    secrets: { "oidc.clientSecret": ["oidc.issuer", "oidc.clientId"] },
  },
  {
    ...COMMON,
    name: "ExternalGroupRoleMapping",
    kind: "mapping",
    message: ExternalGroupRoleMappingSchema,
    path: "/iam/v2/externalGroupRoleMappings",
    field: "externalGroupRoleMappings",
    parent: "provider",
    renamed: { role: "roleUid" },
    references: [
      { at: ["roleUid"], kinds: ["role"] },
      { at: ["scope"], kinds: ["group"] },
    ],
    key: ["externalGroupId", "scope"],
    keyOf: (item) => [textIn(item, "externalGroupId"), textIn(item, "scope")].join(" "),
  },
  {
    ...COMMON,
    name: "AccountAssociation",
    kind: "association",
    message: AccountAssociationSchema,
    path: "/iam/v2/accountAssociations",
    field: "accountAssociations",
    parent: "group",
    references: [{ at: ["services", "serviceBindings", "*"], kinds: ["identity"] }],
    // A group has one at most.
    key: [],
    keyOf: () => "",
  },
  {
    ...COMMON,
    name: "Scanner",
    kind: "scanner",
    message: ScannerSchema,
    path: "/vulnerabilities/v2/scanners",
    field: "scanners",
    parent: "group",
    secrets: { authorization: ["url"] },
  },
  {
    ...COMMON,
    name: "TrustRoot",
    kind: "trust-root",
    message: TrustRootSchema,
    path: "/registry/v2/trustRoots",
    field: "trustRoots",
    parent: "group",
  },
  {
    ...COMMON,
    name: "Signer",
    kind: "signer",
    message: SignerSchema,
    path: "/registry/v2/signers",
    field: "signers",
    parent: "group",
    references: [{ at: ["keyless", "trustRoot"], kinds: ["trust-root"] }],
  },
  {
    ...COMMON,
    name: "Quota",
    kind: "quota",
    message: QuotaSchema,
    path: "/registry/v2/quotas",
    field: "quotas",
    parent: "group",
    // A group has one at most.
    key: [],
    keyOf: () => "",
  },
  {
    ...COMMON,
    name: "SignaturePolicy",
    kind: "signature-policy",
    message: SignaturePolicySchema,
    path: "/registry/v2/signaturePolicies",
    field: "signaturePolicies",
    parent: "group",
    references: [
      { at: ["rules", "*", "signers", "*"], kinds: ["signer"] },
      { at: ["documentSigners", "*"], kinds: ["signer"] },
    ],
  },
  {
    ...COMMON,
    name: "RegistryUpstream",
    kind: "registry-upstream",
    message: RegistryUpstreamSchema,
    path: "/registry/v2/upstreams",
    field: "registryUpstreams",
    parent: "group",
    secrets: { password: ["username"] },
    // A group has one at most.
    key: [],
    keyOf: () => "",
  },
  {
    ...COMMON,
    name: "Replication",
    kind: "replication",
    message: ReplicationSchema,
    path: "/registry/v2/replications",
    field: "replications",
    parent: "group",
    secrets: { password: ["destination", "username"] },
  },
  {
    ...COMMON,
    name: "Upstream",
    kind: "upstream",
    message: UpstreamSchema,
    path: "/libraries/v2/upstreams",
    field: "upstreams",
    parent: "group",
    secrets: { password: ["url", "username"] },
    ...BY_ECOSYSTEM,
  },
  {
    ...COMMON,
    name: "ArtifactPolicy",
    kind: "policy",
    message: ArtifactPolicySchema,
    path: "/libraries/v2/artifactPolicies",
    field: "artifactPolicies",
    parent: "group",
    ...BY_ECOSYSTEM,
  },
  {
    ...COMMON,
    name: "Repo",
    kind: "repo",
    message: RepoSchema,
    path: "/registry/v2/repos",
    field: "repos",
    parent: "group",
    secrets: { "syncConfig.password": ["syncConfig.source", "syncConfig.username"] },
  },
  {
    ...COMMON,
    name: "Tag",
    kind: "tag",
    message: TagSchema,
    path: "/registry/v2/tags",
    field: "tags",
    parent: "repo",
    changes: "again",
  },
  {
    ...COMMON,
    name: "Subscription",
    kind: "subscription",
    message: SubscriptionSchema,
    path: "/events/v2/subscriptions",
    field: "subscriptions",
    parent: "group",
    references: [{ at: ["subjectPrefixes", "*"], kinds: ["group", "repo"] }],
    changes: "never",
    key: ["sink"],
    keyOf: (item) => textIn(item, "sink"),
  },
];

/** The kind of that name in documents. */
export function kindNamed(name: string): KindSpec | undefined {
  return KIND_SPECS.find((spec) => spec.name === name);
}

/** The kinds whose resources others are below, or are named by, by a path of names. */
export const NAMED_BY_PATH: ReadonlySet<Kind> = new Set<Kind>(
  KIND_SPECS.flatMap(({ parent, references }) => [parent, ...references.flatMap(({ kinds }) => kinds)]),
);
