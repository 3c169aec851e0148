// What commands call the services of the API. The one table that scripts/cli-commands.ts takes names from: a service
// without a noun ends the generation.
import type { Kind } from "../packages/cli/src/api/name-kinds.ts";
import type { Section } from "../packages/cli/src/resources/spec.ts";

/** The commands of one or more services. */
export interface Noun {
  readonly name: string;
  readonly section: Section;
  readonly summary: string;
  /** Services by name. */
  readonly services: readonly string[];
  /** What is left out of the names of methods: `Repo` of `UpdateRepo`. The longest first. */
  readonly words: readonly string[];
  readonly aliases?: readonly string[];
}

export const NOUN_TABLE: readonly Noun[] = [
  noun(
    "repos",
    "Registry",
    "repositories: the tags and manifests of one image name",
    "ReposService",
    ["Repo"],
    ["repo"],
  ),
  noun("tags", "Registry", "tags of images, their history and promotion", "TagsService", ["Tag"], ["tag"]),
  noun(
    "images",
    "Registry",
    "images by tag or digest, and what they contain",
    ["ImagesService", "SignaturesService"],
    [],
    ["image"],
  ),
  noun("sboms", "Registry", "the packages of an image", "SbomsService", ["Sbom"], ["sbom"]),
  noun("diffs", "Registry", "what differs between two images", "DiffsService", ["Diff"], ["diff"]),
  noun("search", "Registry", "find repos, tags, groups and more by words", "SearchService", []),
  noun("eol", "Registry", "tags whose software is no longer maintained", "EolTagsService", ["EolTag"]),
  noun("versions", "Registry", "release cycles of a product, and when they end", "VersionsService", [
    "PackageVersionMetadata",
  ]),
  noun("storage", "Registry", "what is stored, by group", "StorageService", ["Storage"]),
  noun("quotas", "Registry", "how much groups may hold, and what is used", "QuotasService", ["Quota"], ["quota"]),
  noun(
    "registry-upstreams",
    "Registry",
    "outside registries that groups stand for",
    "RegistryUpstreamsService",
    ["RegistryUpstream"],
    ["registry-upstream"],
  ),
  noun(
    "replications",
    "Registry",
    "rules by which images are pushed to other registries",
    "ReplicationsService",
    ["Replication"],
    ["replication"],
  ),
  noun("pulls", "Registry", "how often images are pulled, and when they were last", "PullsService", ["Pulls"]),
  noun("usage", "Registry", "what groups take up and transfer, and what runs", "UsageService", ["Usage"]),
  noun(
    "libraries",
    "Registry",
    "npm, PyPI and Maven packages",
    ["ArtifactsService", "LibraryFindingsService"],
    ["Library", "Artifact"],
    ["library"],
  ),
  noun("downloads", "Registry", "how often packages are downloaded, and when they were last", "DownloadsService", [
    "Downloads",
  ]),
  noun(
    "upstreams",
    "Registry",
    "outside registries that groups get packages from",
    "UpstreamsService",
    ["Upstream"],
    ["upstream"],
  ),
  noun(
    "policies",
    "Registry",
    "rules for the package versions that clients get",
    "ArtifactPoliciesService",
    ["ArtifactPolicies", "ArtifactPolicy"],
    ["policy"],
  ),
  noun("blocks", "Registry", "package versions that a policy blocked", "BlocksService", ["Block"]),
  noun("groups", "Access", "organizations and the groups in them", "GroupsService", ["Group"], ["group"]),
  noun("identities", "Access", "people, machines and CI jobs", "IdentitiesService", ["Identity"], ["identity"]),
  noun("roles", "Access", "sets of rights", "RolesService", ["Role"], ["role"]),
  noun("bindings", "Access", "who has which role on which group", "RoleBindingsService", ["RoleBinding"], ["binding"]),
  noun(
    "providers",
    "Access",
    "OpenID providers that people sign in through",
    "IdentityProvidersService",
    ["IdentityProvider"],
    ["provider"],
  ),
  noun("invites", "Access", "invitations to a group", "GroupInvitesService", ["GroupInvite"], ["invite"]),
  noun(
    "mappings",
    "Access",
    "roles for the groups of a provider",
    "ExternalGroupRoleMappingsService",
    ["ExternalGroupRoleMapping"],
    ["mapping"],
  ),
  noun(
    "associations",
    "Access",
    "cloud accounts that belong to a group",
    "AccountAssociationsService",
    ["AccountAssociation"],
    ["association"],
  ),
  noun("terms", "Access", "terms that a group has accepted", "TermsService", ["TermsAcceptance", "Terms"]),
  noun(
    "personal-tokens",
    "Access",
    "tokens that people made for their own programs",
    "PersonalTokensService",
    ["PersonalToken"],
    ["personal-token"],
  ),
  noun("sessions", "Access", "where identities are signed in", "SessionsService", ["Session"], ["session"]),
  noun("capabilities", "Access", "which rights you have on a resource", "CapabilitiesService", ["Capability"]),
  noun("access", "Access", "why somebody may do something, or may not", "AccessService", ["Access"]),
  noun("audit", "Access", "who did what, and what was denied", "AuditEntriesService", ["AuditEntry"]),
  noun(
    "advisories",
    "Security",
    "what a group has found out about vulnerabilities",
    ["AdvisoriesService", "AdvisoryExportsService"],
    ["Advisory"],
    ["advisory"],
  ),
  noun("findings", "Security", "vulnerabilities found in images", "FindingsService", ["Finding"]),
  noun("exposures", "Security", "who pulled images with a vulnerability", "ExposuresService", ["Exposure"]),
  noun("vulnerabilities", "Security", "public advisories, records and reports", "SecurityAdvisoryService", [
    "Vulnerability",
  ]),
  noun(
    "scanners",
    "Security",
    "external scanners, through Harbor's scanner API",
    "ScannersService",
    ["Scanner"],
    ["scanner"],
  ),
  noun("signers", "Security", "who signs the images of a group", "SignersService", ["Signer"], ["signer"]),
  noun(
    "trust-roots",
    "Security",
    "by which authorities and logs identities of signers are verified",
    "TrustRootsService",
    ["TrustRoot"],
    ["trust-root"],
  ),
  noun(
    "signature-policies",
    "Security",
    "which signatures images need to be pulled, promoted or copied",
    "SignaturePoliciesService",
    ["SignaturePolicy"],
    ["signature-policy"],
  ),
  noun(
    "signature-exemptions",
    "Security",
    "images that pass a signature policy for some time",
    "SignatureExemptionsService",
    ["SignatureExemption"],
  ),
  noun("scans", "Security", "scans of images and their reports", "ScansService", ["Scan"], ["scan"]),
  noun("events", "Events", "what happened: pushes, pulls and changes", "EventsService", ["Event"]),
  noun(
    "subscriptions",
    "Events",
    "URLs that events are sent to",
    "SubscriptionsService",
    ["Subscription"],
    ["subscription"],
  ),
  noun(
    "deliveries",
    "Events",
    "what was sent to subscriptions, and what failed",
    "DeliveriesService",
    ["Delivery", "Event"],
    ["delivery"],
  ),
  noun("operations", "Operations of an installation", "jobs, feeds and state of a server", "OperationsService", []),
  noun(
    "attention",
    "Operations of an installation",
    "what somebody should look at first, and what could not be looked at",
    "AttentionService",
    ["Attention"],
  ),
  noun("ping", "Operations of an installation", "ask whether the server answers", "PingService", []),
];

/** Verbs that would not be plain by the rule, by `Service.Method`. */
export const VERBS: Readonly<Record<string, string>> = {
  "SubscriptionsService.RedeliverEvents": "redeliver",
  "ScansService.ScanImage": "start",
  "ReplicationsService.ListReplicationItems": "items",
  "SignaturesService.ListImageSignatures": "signatures",
  "SignaturesService.GetSignatureDecision": "signature-decision",
  "SecurityAdvisoryService.ListDocuments": "list",
  "SecurityAdvisoryService.ListResolvedVulnsReports": "list-resolved",
};

/** What commands do, where the first sentence of the method's comment would not be plain; by `Service.Method`. */
export const SUMMARIES: Readonly<Record<string, string>> = {
  "ArtifactsService.UpdateArtifactVersion": "yank or deprecate a version, or take that back",
  "ArtifactsService.ListArtifactVersions": "show the versions of one library, the newest first",
  "PingService.Ping": "ask whether the server answers; needs no sign-in",
  "SearchService.Search": "find repos, tags, images by digest, and annotations and labels",
  "TagsService.CreateTag": "make a tag, or point it to another digest",
  "IdentitiesService.CheckIdentity":
    "ask the issuer of an identity's tokens for its keys, and say whether they can be used",
  "ScannersService.CheckScanner": "ask the adapter for its metadata, and store it",
};

/** Methods that REST does not offer, with the command made by hand that does what they do. */
export const MADE_BY_HAND: Readonly<Record<string, string>> = {
  "EventsService.WatchEvents": "events watch",
};

/** Services that have no commands, because another protocol offers them. */
export const OTHER_SERVICES: readonly string[] = ["SecurityTokenService", "Health", "ServerReflection"];

/** Kinds of resources that have names, by their message. */
export const KIND_OF_MESSAGE: Readonly<Record<string, Kind>> = {
  "moorage.iam.v2.Group": "group",
  "moorage.iam.v2.Identity": "identity",
  "moorage.iam.v2.Role": "role",
  "moorage.iam.v2.RoleBinding": "binding",
  "moorage.iam.v2.IdentityProvider": "provider",
  "moorage.iam.v2.AccountAssociation": "association",
  "moorage.iam.v2.GroupInvite": "invite",
  "moorage.iam.v2.ExternalGroupRoleMapping": "mapping",
  "moorage.registry.v2.Repo": "repo",
  "moorage.registry.v2.Tag": "tag",
  "moorage.vulnerabilities.v2.Advisory": "advisory",
  "moorage.registry.v2.Signer": "signer",
  "moorage.registry.v2.TrustRoot": "trust-root",
  "moorage.registry.v2.Quota": "quota",
  "moorage.registry.v2.RegistryUpstream": "registry-upstream",
  "moorage.registry.v2.Replication": "replication",
  "moorage.registry.v2.SignaturePolicy": "signature-policy",
  "moorage.vulnerabilities.v2.Scanner": "scanner",
  "moorage.events.v2.Subscription": "subscription",
  "moorage.libraries.v2.Upstream": "upstream",
  "moorage.libraries.v2.ArtifactPolicy": "policy",
  "moorage.libraries.v2.Artifact": "library",
  "moorage.libraries.v2.ArtifactVersion": "version",
};

/** Kinds that fields hold the uid of, by `Message.field`, or by the field's name for all messages. */
export const KIND_OF_FIELD: Readonly<Record<string, Kind>> = {
  identity_uid: "identity",
  role_uid: "role",
  repo_uid: "repo",
  identity_provider_uid: "provider",
  default_role: "role",
  "ListRoleBindingsRequest.identity": "identity",
  "ListRoleBindingsRequest.group": "group",
  "ListRoleBindingsRequest.role": "role",
  "ListIdentitiesRequest.identity_provider": "provider",
  "ListAuditEntriesRequest.identity": "identity",
  "ListSessionsRequest.identity": "identity",
  "ListPersonalTokensRequest.identity": "identity",
  "ListPersonalTokensRequest.group": "group",
  "PersonalToken.groups": "group",
  "ExplainAccessRequest.identity": "identity",
  "ListBlocksRequest.identity": "identity",
  "ListFindingsRequest.repo": "repo",
  "ListUnknownImagesRequest.repo": "repo",
  "ListScansRequest.scanner": "scanner",
  "ScanImageRequest.scanner": "scanner",
  "ExternalGroupRoleMapping.scope": "group",
  "ListTermsAcceptancesRequest.group": "group",
  "TestCapabilitiesRequest.uid": "group",
  "ListEventsRequest.group": "group",
  "WatchEventsRequest.group": "group",
};

/** Resources whose `name` is no part of a path: they are made below the parent that is named. */
export const NAMELESS: readonly string[] = ["moorage.iam.v2.AccountAssociation", "moorage.registry.v2.Quota"];

function noun(
  name: string,
  section: Section,
  summary: string,
  services: string | readonly string[],
  words: readonly string[],
  aliases?: readonly string[],
): Noun {
  const all = typeof services === "string" ? [services] : services;
  return { name, section, summary, services: all, words, ...(aliases && { aliases }) };
}
