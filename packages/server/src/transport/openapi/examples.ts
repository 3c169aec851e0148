import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { isInputOnly, isUpdatable } from "@moorage/kernel/lib/protojson/fields";

const ORGANIZATION = "b7f1c3d95a2e48066d1f0a9c4e3b2d7158f6a0c9";
const GROUP = `${ORGANIZATION}/5d2c91e07b3fa846`;
const ROLE = "0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a392817";
const DIGEST = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const IDENTITY = {
  name: "ci of acme-web",
  claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/web:ref:refs/heads/main" },
};
const REPO = { name: "web", description: "What customers see." };

/** A request body for each method that takes one, by service and method, as somebody might send it. */
const BODIES: Readonly<Record<string, object>> = {
  "GroupsService.CreateGroup": { name: "payments", description: "All that the payments team ships." },
  "GroupsService.UpdateGroup": { description: "All that the payments team ships." },
  "IdentitiesService.CreateIdentity": IDENTITY,
  "IdentitiesService.UpdateIdentity": { name: "ci of acme-web releases" },
  "IdentitiesService.CheckIdentity": {},
  "RolesService.CreateRole": { name: "puller", capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_TAG_LIST"] },
  "RolesService.UpdateRole": { description: "Pulls images and lists tags." },
  "RoleBindingsService.CreateRoleBinding": { identityUid: `${GROUP}/6f1e2d3c4b5a6978`, roleUid: ROLE },
  "RoleBindingsService.UpdateRoleBinding": { roleUid: ROLE },
  "RoleBindingsService.BatchCreateRoleBindings": {
    requests: [{ parent: GROUP, roleBinding: { identityUid: `${GROUP}/6f1e2d3c4b5a6978`, roleUid: ROLE } }],
  },
  "GroupInvitesService.CreateGroupInvite": { roleUid: ROLE, email: "ada@example.com", ttl: "604800s", singleUse: true },
  "GroupInvitesService.UpdateGroupInvite": { singleUse: true },
  "GroupInvitesService.AcceptGroupInvite": { code: "the code of the invite" },
  "IdentityProvidersService.CreateIdentityProvider": {
    name: "okta",
    oidc: { issuer: "https://acme.okta.com", clientId: "0oa1b2c3", groupsClaim: "groups", pkceEnabled: true },
    defaultRole: ROLE,
  },
  "IdentityProvidersService.UpdateIdentityProvider": { defaultRole: ROLE },
  "ExternalGroupRoleMappingsService.CreateExternalGroupRoleMapping": {
    externalGroupId: "platform-engineers",
    roleUid: ROLE,
    scope: GROUP,
  },
  "ExternalGroupRoleMappingsService.UpdateExternalGroupRoleMapping": { roleUid: ROLE },
  "ExternalGroupRoleMappingsService.BatchDeleteExternalGroupRoleMappings": {
    parent: `${ORGANIZATION}/1a2b3c4d5e6f7081`,
    names: [`${ORGANIZATION}/1a2b3c4d5e6f7081/90a1b2c3d4e5f607`],
  },
  "AccountAssociationsService.CreateAccountAssociation": { name: "production", amazon: { account: "123456789012" } },
  "AccountAssociationsService.UpdateAccountAssociation": { amazon: { account: "123456789012" } },
  "AccountAssociationsService.CheckAccountAssociation": { providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" },
  "QuotasService.CreateQuota": { bytes: "10737418240", softPercent: 80 },
  "RegistryUpstreamsService.CreateRegistryUpstream": { registry: "docker.io", denied: ["*/xmrig"] },
  "RegistryUpstreamsService.UpdateRegistryUpstream": { allowed: ["library/*"] },
  "RegistryUpstreamsService.DetachRegistryUpstream": {},
  "RegistryUpstreamsService.FollowRegistryUpstream": {},
  "ReplicationsService.CreateReplication": {
    name: "elsewhere",
    destination: "registry.example.com/acme",
    onPush: true,
  },
  "ReplicationsService.UpdateReplication": { tagPattern: "v[0-9]+" },
  "ReplicationsService.RunReplication": {},
  "ReplicationsService.StopReplication": {},
  "QuotasService.UpdateQuota": { bytes: "21474836480" },
  "TermsService.AcceptTerms": { documentIds: ["privacy"] },
  "ReposService.CreateRepo": REPO,
  "ReposService.UpdateRepo": { description: "What customers see." },
  "ReposService.UpdateRepoReadme": { content: "# web\n\nWhat customers see." },
  "ReposService.PreviewTagRetention": { tagPolicy: { retention: [{ tagPattern: "pr-.*", keepLast: 10 }] } },
  "ReposService.SyncRepo": {},
  "TagsService.CreateTag": { name: "1.4.2", digest: DIGEST },
  "TagsService.PromoteTags": { promotions: [{ name: "stable", fromTag: "1.4.2" }] },
  "TagsService.RollbackTags": { rollbacks: [{ name: "stable" }] },
  "TagsService.ImportMoves": {
    moves: [{ tag: "1.4.2", digest: DIGEST, time: "2025-07-04T12:00:00Z" }],
    source: "registry.example.com/app",
  },
  "SubscriptionsService.CreateSubscription": { sink: "https://hooks.example.com/moorage" },
  "SubscriptionsService.PauseSubscription": {},
  "SubscriptionsService.ResumeSubscription": {},
  "SubscriptionsService.RotateSubscriptionSecret": { overlap: "86400s" },
  "SubscriptionsService.TestSubscription": {},
  "SubscriptionsService.TestSink": { sink: "https://hooks.example.com/moorage" },
  "SubscriptionsService.RedeliverEvents": { startTime: "2026-07-04T00:00:00Z", endTime: "2026-07-05T00:00:00Z" },
  "DeliveriesService.RedeliverEvent": {},
  "AdvisoriesService.CreateAdvisory": {
    artifactName: "acme/web",
    artifactType: "OCI_IMAGE",
    componentName: "openssl",
    componentType: "apk",
    aliases: ["CVE-2026-1234"],
    events: [{ detection: { manual: {} } }],
  },
  "AdvisoriesService.UpdateAdvisory": { aliases: ["CVE-2026-1234", "GHSA-2345-6789-cfgh"] },
  "AdvisoriesService.CreateAdvisoryEvent": { fixed: { fixedVersion: "3.1.5-r0", note: "Fixed by the distribution." } },
  "ScannersService.CreateScanner": {
    name: "trivy",
    url: "https://scanner.example.com",
    authorization: "Bearer the secret of the adapter",
  },
  "ScannersService.UpdateScanner": { disabled: true },
  "ScannersService.CheckScanner": {},
  "ArtifactPoliciesService.CreateArtifactPolicy": {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    mode: "POLICY_MODE_ENFORCE",
    cooldown: "604800s",
    blockedPurls: ["pkg:npm/left-pad@1.3.0"],
    allowedPurls: ["pkg:npm/%40acme/*"],
    deniedLicenses: ["AGPL-*"],
  },
  "ArtifactPoliciesService.UpdateArtifactPolicy": { mode: "POLICY_MODE_ENFORCE" },
  "UpstreamsService.CreateUpstream": {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    url: "https://registry.npmjs.org",
    reservedNames: ["@acme/*"],
  },
  "UpstreamsService.UpdateUpstream": { reservedNames: ["@acme/*", "acme-*"] },
  "ScansService.ScanImage": { digest: DIGEST },
  "AdvisoriesService.UpdateAdvisoryEvent": { reviewState: "REVIEW_STATE_APPROVED" },
};

/** An example of the method's body. Undefined for a method that has none here, which a test does not allow. */
export function bodyExample(method: DescMethod): object | undefined {
  return BODIES[`${method.parent.name}.${method.name}`];
}

/** A mask that fits the resource: fields of it that an update can change. */
export function maskExample(resource: DescMessage): string {
  const plain = (field: DescField): boolean =>
    isUpdatable(field) && !isInputOnly(field) && field.oneof === undefined && field.message === undefined;
  const updatable = resource.fields.filter(plain);
  const chosen = updatable.length > 0 ? updatable : resource.fields.filter(isUpdatable);
  return chosen
    .slice(0, 2)
    .map(({ jsonName }) => jsonName)
    .join(",");
}
