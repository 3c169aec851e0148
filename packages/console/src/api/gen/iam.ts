// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface ExplainAccessRequest {
  identity?: string;
  claims?: ExternalClaimsInput;
  anonymous?: boolean;
  method?: string;
  action?: RegistryAction;
  resource?: string;
  capabilities?: string[];
  scopes?: string[];
  externalGroups?: string[];
}
export interface ExternalClaimsInput {
  identity?: string;
  issuer?: string;
  subject?: string;
  audiences?: string[];
  claims?: string;
}
export type RegistryAction =
  "REGISTRY_ACTION_UNSPECIFIED" | "REGISTRY_ACTION_PULL" | "REGISTRY_ACTION_PUSH" | "REGISTRY_ACTION_DELETE";
export interface ExplainAccessResponse {
  allowed: boolean;
  reason: AccessReason;
  message: string;
  steps: AccessStep[];
  missing: Capability[];
  remedies: AccessRemedy[];
  identity: string;
}
export type AccessReason =
  | "ACCESS_REASON_UNSPECIFIED"
  | "ACCESS_REASON_ALLOWED"
  | "ACCESS_REASON_IDENTITY_NOT_USABLE"
  | "ACCESS_REASON_CLAIMS_NOT_ACCEPTED"
  | "ACCESS_REASON_CLAIMS_AMBIGUOUS"
  | "ACCESS_REASON_TOKEN_NEEDED"
  | "ACCESS_REASON_NOT_VISIBLE"
  | "ACCESS_REASON_CAPABILITY_MISSING"
  | "ACCESS_REASON_NARROWED_AWAY"
  | "ACCESS_REASON_OUT_OF_SCOPE"
  | "ACCESS_REASON_RESOURCE_MISSING"
  | "ACCESS_REASON_TERMS_MISSING"
  | "ACCESS_REASON_TAG_POLICY"
  | "ACCESS_REASON_GATE_REJECTS"
  | "ACCESS_REASON_ADMINISTRATORS_ONLY"
  | "ACCESS_REASON_REQUEST_REJECTED"
  | "ACCESS_REASON_SIGNATURE";
export interface AccessStep {
  kind: AccessStepKind;
  outcome: AccessStepOutcome;
  message: string;
  uid: string;
  name: string;
  group: string;
  groupName: string;
  capability: Capability;
}
export type AccessStepKind =
  | "KIND_UNSPECIFIED"
  | "KIND_IDENTITY"
  | "KIND_CLAIM_MATCH"
  | "KIND_METHOD"
  | "KIND_BINDING"
  | "KIND_MAPPING"
  | "KIND_CAPABILITY"
  | "KIND_NARROWING"
  | "KIND_SCOPE"
  | "KIND_FREE_TIER"
  | "KIND_EXISTENCE"
  | "KIND_TERMS"
  | "KIND_TAG_POLICY"
  | "KIND_GATE"
  | "KIND_SIGNATURE";
export type AccessStepOutcome = "OUTCOME_UNSPECIFIED" | "OUTCOME_PASSED" | "OUTCOME_FAILED" | "OUTCOME_NOT_APPLICABLE";
export type Capability =
  | "CAPABILITY_UNSPECIFIED"
  | "CAP_IAM_GROUPS_CREATE"
  | "CAP_IAM_GROUPS_UPDATE"
  | "CAP_IAM_GROUPS_LIST"
  | "CAP_IAM_GROUPS_DELETE"
  | "CAP_IAM_GROUP_INVITES_CREATE"
  | "CAP_IAM_GROUP_INVITES_UPDATE"
  | "CAP_IAM_GROUP_INVITES_LIST"
  | "CAP_IAM_GROUP_INVITES_DELETE"
  | "CAP_IAM_ROLES_CREATE"
  | "CAP_IAM_ROLES_UPDATE"
  | "CAP_IAM_ROLES_LIST"
  | "CAP_IAM_ROLES_DELETE"
  | "CAP_IAM_ROLE_BINDINGS_CREATE"
  | "CAP_IAM_ROLE_BINDINGS_UPDATE"
  | "CAP_IAM_ROLE_BINDINGS_LIST"
  | "CAP_IAM_ROLE_BINDINGS_DELETE"
  | "CAP_TENANT_SBOMS_LIST"
  | "CAP_TENANT_VULN_REPORTS_LIST"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE"
  | "CAP_IAM_IDENTITY_CREATE"
  | "CAP_IAM_IDENTITY_UPDATE"
  | "CAP_IAM_IDENTITY_LIST"
  | "CAP_IAM_IDENTITY_DELETE"
  | "CAP_IAM_IDENTITY_PROVIDERS_CREATE"
  | "CAP_IAM_IDENTITY_PROVIDERS_UPDATE"
  | "CAP_IAM_IDENTITY_PROVIDERS_LIST"
  | "CAP_IAM_IDENTITY_PROVIDERS_DELETE"
  | "CAP_EVENTS_SUBSCRIPTION_CREATE"
  | "CAP_EVENTS_SUBSCRIPTION_UPDATE"
  | "CAP_EVENTS_SUBSCRIPTION_LIST"
  | "CAP_EVENTS_SUBSCRIPTION_DELETE"
  | "CAP_REPO_BLOBS_GET"
  | "CAP_REPO_CREATE"
  | "CAP_REPO_UPDATE"
  | "CAP_REPO_LIST"
  | "CAP_REPO_DELETE"
  | "CAP_MANIFEST_CREATE"
  | "CAP_MANIFEST_UPDATE"
  | "CAP_MANIFEST_LIST"
  | "CAP_MANIFEST_DELETE"
  | "CAP_TAG_CREATE"
  | "CAP_TAG_UPDATE"
  | "CAP_TAG_LIST"
  | "CAP_TAG_DELETE"
  | "CAP_MANIFEST_METADATA_LIST"
  | "CAP_REFERRERS_LIST"
  | "CAP_VULN_REPORT_LIST"
  | "CAP_LIBRARIES_ARTIFACTS_LIST"
  | "CAP_LIBRARIES_PYTHON_READ"
  | "CAP_LIBRARIES_PYTHON_PUBLISH"
  | "CAP_LIBRARIES_JAVA_READ"
  | "CAP_LIBRARIES_JAVA_PUBLISH"
  | "CAP_LIBRARIES_JAVASCRIPT_READ"
  | "CAP_LIBRARIES_JAVASCRIPT_PUBLISH"
  | "CAP_ADVISORIES_CREATE"
  | "CAP_ADVISORIES_UPDATE"
  | "CAP_ADVISORIES_LIST"
  | "CAP_ADVISORIES_DELETE"
  | "CAP_ADVISORIES_APPROVE"
  | "CAP_TERMS_ACCEPT"
  | "CAP_TERMS_LIST"
  | "CAP_IAM_AUDIT_LIST"
  | "CAP_EVENTS_LIST"
  | "CAP_OPERATIONS_LIST"
  | "CAP_LIBRARIES_ARTIFACTS_DELETE"
  | "CAP_LIBRARIES_UPSTREAMS_LIST"
  | "CAP_LIBRARIES_UPSTREAMS_CREATE"
  | "CAP_LIBRARIES_UPSTREAMS_UPDATE"
  | "CAP_LIBRARIES_UPSTREAMS_DELETE"
  | "CAP_LIBRARIES_POLICIES_CREATE"
  | "CAP_LIBRARIES_POLICIES_UPDATE"
  | "CAP_LIBRARIES_POLICIES_LIST"
  | "CAP_LIBRARIES_POLICIES_DELETE"
  | "CAP_LIBRARIES_BLOCKS_LIST"
  | "CAP_REPO_POLICY_UPDATE"
  | "CAP_OPERATIONS_FEEDS_UPDATE"
  | "CAP_SIGNERS_CREATE"
  | "CAP_SIGNERS_UPDATE"
  | "CAP_SIGNERS_DELETE"
  | "CAP_SIGNATURE_POLICIES_LIST"
  | "CAP_SIGNATURE_POLICIES_CREATE"
  | "CAP_SIGNATURE_POLICIES_UPDATE"
  | "CAP_SIGNATURE_POLICIES_DELETE"
  | "CAP_SIGNATURE_EXEMPTIONS_CREATE"
  | "CAP_SIGNATURE_EXEMPTIONS_DELETE"
  | "CAP_SIGNATURES_LIST"
  | "CAP_UNSIGNED_READ"
  | "CAP_SIGNERS_LIST"
  | "CAP_QUOTAS_UPDATE"
  | "CAP_USAGE_LIST"
  | "CAP_USAGE_REPORT";
export interface AccessRemedy {
  message: string;
  capabilities: Capability[];
  group: string;
  documentIds: string[];
}
export interface GetAccountAssociationRequest {
  uid?: string;
}
export interface AccountAssociation {
  uid: string;
  name: string;
  description: string;
  amazon?: AccountAssociationAmazon;
  google?: AccountAssociationGoogle;
  services?: AccountAssociationServices;
  azure?: AccountAssociationAzure;
  createTime?: string;
  updateTime?: string;
  github?: AccountAssociationGitHub;
}
export interface AccountAssociationAmazon {
  account: string;
}
export interface AccountAssociationGoogle {
  projectId: string;
  projectNumber: string;
}
export interface AccountAssociationServices {
  serviceBindings: Record<string, string>;
}
export interface AccountAssociationAzure {
  tenantId: string;
  clientIds: Record<string, string>;
}
export interface AccountAssociationGitHub {
  appInstallations: Record<string, AccountAssociationGitHubAppInstallations>;
}
export interface AccountAssociationGitHubAppInstallations {
  installations: AccountAssociationGitHubInstallation[];
}
export interface AccountAssociationGitHubInstallation {
  installationId: string;
  name: string;
}
export interface ListAccountAssociationsRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
}
export interface ListAccountAssociationsResponse {
  accountAssociations: AccountAssociation[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateAccountAssociationRequest {
  parent?: string;
  accountAssociation?: AccountAssociationInput;
  validateOnly?: boolean;
}
export interface AccountAssociationInput {
  uid?: string;
  name?: string;
  description?: string;
  amazon?: AccountAssociationAmazonInput;
  google?: AccountAssociationGoogleInput;
  services?: AccountAssociationServicesInput;
  azure?: AccountAssociationAzureInput;
  createTime?: string;
  updateTime?: string;
  github?: AccountAssociationGitHubInput;
}
export interface AccountAssociationAmazonInput {
  account?: string;
}
export interface AccountAssociationGoogleInput {
  projectId?: string;
  projectNumber?: string;
}
export interface AccountAssociationServicesInput {
  serviceBindings?: Record<string, string>;
}
export interface AccountAssociationAzureInput {
  tenantId?: string;
  clientIds?: Record<string, string>;
}
export interface AccountAssociationGitHubInput {
  appInstallations?: Record<string, AccountAssociationGitHubAppInstallationsInput>;
}
export interface AccountAssociationGitHubAppInstallationsInput {
  installations?: AccountAssociationGitHubInstallationInput[];
}
export interface AccountAssociationGitHubInstallationInput {
  installationId?: string;
  name?: string;
}
export interface UpdateAccountAssociationRequest {
  accountAssociation?: AccountAssociationInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteAccountAssociationRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface CheckAccountAssociationRequest {
  uid?: string;
  providerType?: CheckAccountAssociationRequestAccountProviderType;
}
export type CheckAccountAssociationRequestAccountProviderType =
  | "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED"
  | "ACCOUNT_PROVIDER_TYPE_GOOGLE"
  | "ACCOUNT_PROVIDER_TYPE_AMAZON"
  | "ACCOUNT_PROVIDER_TYPE_AZURE";
export interface CheckAccountAssociationResponse {
  status: CheckAccountAssociationResponseCheckStatus;
  reason: string;
  message: string;
}
export type CheckAccountAssociationResponseCheckStatus =
  "CHECK_STATUS_UNSPECIFIED" | "CHECK_STATUS_READY" | "CHECK_STATUS_NOT_READY";
export interface ListAuditEntriesRequest {
  uidp?: UIDPFilterInput;
  identity?: string;
  method?: string;
  decision?: AuditDecision;
  resource?: string;
  since?: string;
  until?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export type AuditDecision = "AUDIT_DECISION_UNSPECIFIED" | "AUDIT_DECISION_ALLOWED" | "AUDIT_DECISION_DENIED";
export interface ListAuditEntriesResponse {
  auditEntries: AuditEntry[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface AuditEntry {
  uid: string;
  createTime?: string;
  identity: string;
  tokenId: string;
  act: Record<string, string>;
  method: string;
  resource: string;
  decision: AuditDecision;
  code: number;
  reason: string;
  details: Record<string, string>;
  requestId: string;
  remoteAddress: string;
  userAgent: string;
}
export interface TestCapabilitiesRequest {
  uid?: string;
  capabilities?: Capability[];
}
export interface TestCapabilitiesResponse {
  capabilities: Capability[];
}
export interface GetExternalGroupRoleMappingRequest {
  uid?: string;
}
export interface ExternalGroupRoleMapping {
  uid: string;
  identityProviderUid: string;
  externalGroupId: string;
  roleUid: string;
  scope: string;
  createTime?: string;
}
export interface ListExternalGroupRoleMappingsRequest {
  uidp?: UIDPFilterInput;
  identityProviderUid?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListExternalGroupRoleMappingsResponse {
  externalGroupRoleMappings: ExternalGroupRoleMapping[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateExternalGroupRoleMappingRequest {
  parent?: string;
  externalGroupRoleMapping?: ExternalGroupRoleMappingInput;
  validateOnly?: boolean;
}
export interface ExternalGroupRoleMappingInput {
  uid?: string;
  identityProviderUid?: string;
  externalGroupId?: string;
  roleUid?: string;
  scope?: string;
  createTime?: string;
}
export interface UpdateExternalGroupRoleMappingRequest {
  externalGroupRoleMapping?: ExternalGroupRoleMappingInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteExternalGroupRoleMappingRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface BatchDeleteExternalGroupRoleMappingsRequest {
  parent?: string;
  names?: string[];
  validateOnly?: boolean;
}
export interface BatchDeleteExternalGroupRoleMappingsResponse {
  parent: string;
  externalGroupRoleMappings: ExternalGroupRoleMapping[];
}
export interface GetGroupInviteRequest {
  uid?: string;
}
export interface GroupInvite {
  uid: string;
  roleUid: string;
  email: string;
  ttl?: string;
  expirationTime?: string;
  singleUse: boolean;
  code: string;
  keyId: string;
  createTime?: string;
  role?: GroupInviteInvitedRole;
  url: string;
  mailTo: string;
  mailState: GroupInviteMailState;
  mailReason: string;
  mailTime?: string;
}
export interface GroupInviteInvitedRole {
  uid: string;
  name: string;
  description: string;
  capabilities: Capability[];
}
export type GroupInviteMailState =
  "MAIL_STATE_UNSPECIFIED" | "MAIL_STATE_WAITING" | "MAIL_STATE_SENT" | "MAIL_STATE_FAILED";
export interface ListGroupInvitesRequest {
  uidp?: UIDPFilterInput;
  keyId?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListGroupInvitesResponse {
  groupInvites: GroupInvite[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateGroupInviteRequest {
  parent?: string;
  groupInvite?: GroupInviteInput;
  validateOnly?: boolean;
}
export interface GroupInviteInput {
  uid?: string;
  roleUid?: string;
  email?: string;
  ttl?: string;
  expirationTime?: string;
  singleUse?: boolean;
  code?: string;
  keyId?: string;
  createTime?: string;
  role?: GroupInviteInvitedRoleInput;
  url?: string;
  mailTo?: string;
  mailState?: GroupInviteMailState;
  mailReason?: string;
  mailTime?: string;
}
export interface GroupInviteInvitedRoleInput {
  uid?: string;
  name?: string;
  description?: string;
  capabilities?: Capability[];
}
export interface AcceptGroupInviteRequest {
  code?: string;
  validateOnly?: boolean;
}
export interface RoleBinding {
  uid: string;
  identity?: RoleBindingBoundIdentity;
  group?: RoleBindingBoundGroup;
  role?: RoleBindingBoundRole;
  createTime?: string;
  identityUid?: string;
  roleUid?: string;
}
export interface RoleBindingBoundIdentity {
  uid: string;
  name: string;
  description: string;
  subject: string;
  issuer: string;
  email: string;
}
export interface RoleBindingBoundGroup {
  uid: string;
  name: string;
  description: string;
}
export interface RoleBindingBoundRole {
  uid: string;
  name: string;
  description: string;
}
export interface UpdateGroupInviteRequest {
  groupInvite?: GroupInviteInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteGroupInviteRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetGroupRequest {
  uid?: string;
}
export interface Group {
  uid: string;
  name: string;
  description: string;
  resourceLimits: Record<string, number>;
  verified: boolean;
  createTime?: string;
  updateTime?: string;
  kind: OrgKind;
  status: OrgStatus;
  costLabels: Record<string, string>;
}
export type OrgKind =
  | "ORG_KIND_UNSPECIFIED"
  | "ORG_KIND_STARTER"
  | "ORG_KIND_CUSTOMER"
  | "ORG_KIND_DEV"
  | "ORG_KIND_INFRA"
  | "ORG_KIND_AWS_MARKETPLACE";
export type OrgStatus =
  "ORG_STATUS_UNSPECIFIED" | "ORG_STATUS_INITIALIZING" | "ORG_STATUS_READY" | "ORG_STATUS_SUSPENDED";
export interface ListGroupsRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListGroupsResponse {
  groups: Group[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateGroupRequest {
  parent?: string;
  group?: GroupInput;
  validateOnly?: boolean;
}
export interface GroupInput {
  uid?: string;
  name?: string;
  description?: string;
  resourceLimits?: Record<string, number>;
  verified?: boolean;
  createTime?: string;
  updateTime?: string;
  kind?: OrgKind;
  status?: OrgStatus;
  costLabels?: Record<string, string>;
}
export interface UpdateGroupRequest {
  group?: GroupInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteGroupRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetIdentityRequest {
  uid?: string;
}
export interface Identity {
  uid: string;
  name: string;
  description: string;
  email: string;
  emailUnverified: string;
  company: string;
  lastSeenTime?: string;
  createTime?: string;
  updateTime?: string;
  claimMatch?: ClaimMatch;
  staticKeys?: StaticKeys;
  awsIdentity?: AWSIdentity;
  servicePrincipal?: ServicePrincipal;
  identityProvider: string;
  groupsLeftOut: string;
  uncounted: boolean;
}
export interface ClaimMatch {
  issuer?: string;
  issuerPattern?: string;
  subject?: string;
  subjectPattern?: string;
  audience?: string;
  audiencePattern?: string;
  claims: Record<string, string>;
  claimPatterns: Record<string, string>;
}
export interface StaticKeys {
  issuer: string;
  subject: string;
  issuerKeys: string;
  expirationTime?: string;
  audiences: string[];
}
export interface AWSIdentity {
  awsAccount: string;
  arn?: string;
  arnPattern?: string;
  userId?: string;
  userIdPattern?: string;
}
export type ServicePrincipal = "SERVICE_PRINCIPAL_UNSPECIFIED";
export interface ListIdentitiesRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  relationshipType?: RelationshipType;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  identityProvider?: string;
  seenSince?: string;
  seenUntil?: string;
}
export type RelationshipType =
  | "RELATIONSHIP_TYPE_UNSPECIFIED"
  | "RELATIONSHIP_TYPE_CLAIM_MATCH"
  | "RELATIONSHIP_TYPE_STATIC"
  | "RELATIONSHIP_TYPE_AWS_IDENTITY"
  | "RELATIONSHIP_TYPE_SERVICE_PRINCIPAL";
export interface ListIdentitiesResponse {
  identities: Identity[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface LookupIdentityRequest {
  issuer?: string;
  subject?: string;
}
export interface LookupIdentityResponse {
  uid: string;
}
export interface CreateIdentityRequest {
  parent?: string;
  identity?: IdentityInput;
  validateOnly?: boolean;
}
export interface IdentityInput {
  uid?: string;
  name?: string;
  description?: string;
  email?: string;
  emailUnverified?: string;
  company?: string;
  lastSeenTime?: string;
  createTime?: string;
  updateTime?: string;
  claimMatch?: ClaimMatchInput;
  staticKeys?: StaticKeysInput;
  awsIdentity?: AWSIdentityInput;
  servicePrincipal?: ServicePrincipal;
  identityProvider?: string;
  groupsLeftOut?: string;
  uncounted?: boolean;
}
export interface ClaimMatchInput {
  issuer?: string;
  issuerPattern?: string;
  subject?: string;
  subjectPattern?: string;
  audience?: string;
  audiencePattern?: string;
  claims?: Record<string, string>;
  claimPatterns?: Record<string, string>;
}
export interface StaticKeysInput {
  issuer?: string;
  subject?: string;
  issuerKeys?: string;
  expirationTime?: string;
  audiences?: string[];
}
export interface AWSIdentityInput {
  awsAccount?: string;
  arn?: string;
  arnPattern?: string;
  userId?: string;
  userIdPattern?: string;
}
export interface UpdateIdentityRequest {
  identity?: IdentityInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteIdentityRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface CheckIdentityRequest {
  uid?: string;
}
export interface CheckIdentityResponse {
  status: CheckIdentityResponseStatus;
  reason: string;
  message: string;
}
export type CheckIdentityResponseStatus =
  "STATUS_UNSPECIFIED" | "STATUS_READY" | "STATUS_NOT_READY" | "STATUS_NOT_CHECKED";
export interface GetIdentityProviderRequest {
  uid?: string;
}
export interface IdentityProvider {
  uid: string;
  name: string;
  description: string;
  createTime?: string;
  updateTime?: string;
  defaultRole: string;
  oidc?: IdentityProviderOIDC;
  accounts?: IdentityProviderAccounts;
  redirectUri: string;
  sharedCallback: boolean;
}
export interface IdentityProviderOIDC {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  additionalScopes: string[];
  groupsClaim: string;
  correlationRule: IdentityProviderOIDCCorrelationRule;
  pkceEnabled: boolean;
}
export type IdentityProviderOIDCCorrelationRule =
  | "CORRELATION_RULE_UNSPECIFIED"
  | "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"
  | "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID";
export interface IdentityProviderAccounts {
  secondFactor: boolean;
}
export interface ListIdentityProvidersRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListIdentityProvidersResponse {
  identityProviders: IdentityProvider[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateIdentityProviderRequest {
  parent?: string;
  identityProvider?: IdentityProviderInput;
  validateOnly?: boolean;
}
export interface IdentityProviderInput {
  uid?: string;
  name?: string;
  description?: string;
  createTime?: string;
  updateTime?: string;
  defaultRole?: string;
  oidc?: IdentityProviderOIDCInput;
  accounts?: IdentityProviderAccountsInput;
  redirectUri?: string;
  sharedCallback?: boolean;
}
export interface IdentityProviderOIDCInput {
  issuer?: string;
  clientId?: string;
  clientSecret?: string;
  additionalScopes?: string[];
  groupsClaim?: string;
  correlationRule?: IdentityProviderOIDCCorrelationRule;
  pkceEnabled?: boolean;
}
export interface IdentityProviderAccountsInput {
  secondFactor?: boolean;
}
export interface UpdateIdentityProviderRequest {
  identityProvider?: IdentityProviderInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteIdentityProviderRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetPersonalTokenRequest {
  uid?: string;
}
export interface PersonalToken {
  uid: string;
  name: string;
  capabilities: Capability[];
  groups: string[];
  expirationTime?: string;
  lastUsedTime?: string;
  createTime?: string;
  token: string;
  hint: string;
  identity: string;
}
export interface ListPersonalTokensRequest {
  identity?: string;
  group?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListPersonalTokensResponse {
  personalTokens: PersonalToken[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreatePersonalTokenRequest {
  personalToken?: PersonalTokenInput;
  validateOnly?: boolean;
}
export interface PersonalTokenInput {
  uid?: string;
  name?: string;
  capabilities?: Capability[];
  groups?: string[];
  expirationTime?: string;
  lastUsedTime?: string;
  createTime?: string;
  token?: string;
  hint?: string;
  identity?: string;
}
export interface DeletePersonalTokenRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetRoleBindingRequest {
  uid?: string;
}
export interface ListRoleBindingsRequest {
  uidp?: UIDPFilterInput;
  identity?: string;
  group?: string;
  role?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListRoleBindingsResponse {
  roleBindings: RoleBinding[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateRoleBindingRequest {
  parent?: string;
  roleBinding?: RoleBindingInput;
  validateOnly?: boolean;
}
export interface RoleBindingInput {
  uid?: string;
  identity?: RoleBindingBoundIdentityInput;
  group?: RoleBindingBoundGroupInput;
  role?: RoleBindingBoundRoleInput;
  createTime?: string;
  identityUid?: string;
  roleUid?: string;
}
export interface RoleBindingBoundIdentityInput {
  uid?: string;
  name?: string;
  description?: string;
  subject?: string;
  issuer?: string;
  email?: string;
}
export interface RoleBindingBoundGroupInput {
  uid?: string;
  name?: string;
  description?: string;
}
export interface RoleBindingBoundRoleInput {
  uid?: string;
  name?: string;
  description?: string;
}
export interface BatchCreateRoleBindingsRequest {
  parent?: string;
  requests?: CreateRoleBindingRequest[];
  roleUid?: string;
  validateOnly?: boolean;
}
export interface BatchCreateRoleBindingsResponse {
  roleBindings: RoleBinding[];
}
export interface UpdateRoleBindingRequest {
  roleBinding?: RoleBindingInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteRoleBindingRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetRoleRequest {
  uid?: string;
}
export interface Role {
  uid: string;
  name: string;
  description: string;
  capabilities: Capability[];
  createTime?: string;
  updateTime?: string;
}
export interface ListRolesRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListRolesResponse {
  roles: Role[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateRoleRequest {
  parent?: string;
  role?: RoleInput;
  validateOnly?: boolean;
}
export interface RoleInput {
  uid?: string;
  name?: string;
  description?: string;
  capabilities?: Capability[];
  createTime?: string;
  updateTime?: string;
}
export interface UpdateRoleRequest {
  role?: RoleInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteRoleRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface ListSessionsRequest {
  identity?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListSessionsResponse {
  sessions: Session[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface Session {
  uid: string;
  identity: string;
  kind: SessionKind;
  provider: string;
  createTime?: string;
  seenTime?: string;
  expireTime?: string;
  current: boolean;
  userAgent: string;
  network: string;
}
export type SessionKind = "SESSION_KIND_UNSPECIFIED" | "SESSION_KIND_BROWSER" | "SESSION_KIND_PROGRAM";
export interface DeleteSessionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface AcceptTermsRequest {
  group?: string;
  documentIds?: string[];
  validateOnly?: boolean;
}
export interface AcceptTermsResponse {
  group: string;
  documentIds: string[];
}
export interface ListTermsAcceptancesRequest {
  group?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListTermsAcceptancesResponse {
  termsAcceptances: TermsAcceptance[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface TermsAcceptance {
  docId: string;
  acceptedBy: string;
  orgUid: string;
  createTime?: string;
}
export const explainAccess = method<ExplainAccessRequest, ExplainAccessResponse>("POST", "/iam/v2/access:explain", "*");
export const getAccountAssociation = method<GetAccountAssociationRequest, AccountAssociation>(
  "GET",
  "/iam/v2/accountAssociations/{uid=**}",
  "",
);
export const listAccountAssociations = method<ListAccountAssociationsRequest, ListAccountAssociationsResponse>(
  "GET",
  "/iam/v2/accountAssociations",
  "",
);
export const createAccountAssociation = method<CreateAccountAssociationRequest, AccountAssociation>(
  "POST",
  "/iam/v2/accountAssociations/{parent=**}",
  "accountAssociation",
);
export const updateAccountAssociation = method<UpdateAccountAssociationRequest, AccountAssociation>(
  "PATCH",
  "/iam/v2/accountAssociations/{accountAssociation.uid=**}",
  "accountAssociation",
);
export const deleteAccountAssociation = method<DeleteAccountAssociationRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/accountAssociations/{uid=**}",
  "",
);
export const checkAccountAssociation = method<CheckAccountAssociationRequest, CheckAccountAssociationResponse>(
  "POST",
  "/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation",
  "*",
);
export const listAuditEntries = method<ListAuditEntriesRequest, ListAuditEntriesResponse>(
  "GET",
  "/iam/v2/auditEntries",
  "",
);
export const testCapabilities = method<TestCapabilitiesRequest, TestCapabilitiesResponse>(
  "GET",
  "/iam/v2/capabilities/{uid=**}",
  "",
);
export const getExternalGroupRoleMapping = method<GetExternalGroupRoleMappingRequest, ExternalGroupRoleMapping>(
  "GET",
  "/iam/v2/externalGroupRoleMappings/{uid=**}",
  "",
);
export const listExternalGroupRoleMappings = method<
  ListExternalGroupRoleMappingsRequest,
  ListExternalGroupRoleMappingsResponse
>("GET", "/iam/v2/externalGroupRoleMappings", "");
export const createExternalGroupRoleMapping = method<CreateExternalGroupRoleMappingRequest, ExternalGroupRoleMapping>(
  "POST",
  "/iam/v2/externalGroupRoleMappings/{parent=**}",
  "externalGroupRoleMapping",
);
export const updateExternalGroupRoleMapping = method<UpdateExternalGroupRoleMappingRequest, ExternalGroupRoleMapping>(
  "PATCH",
  "/iam/v2/externalGroupRoleMappings/{externalGroupRoleMapping.uid=**}",
  "externalGroupRoleMapping",
);
export const deleteExternalGroupRoleMapping = method<DeleteExternalGroupRoleMappingRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/externalGroupRoleMappings/{uid=**}",
  "",
);
export const batchDeleteExternalGroupRoleMappings = method<
  BatchDeleteExternalGroupRoleMappingsRequest,
  BatchDeleteExternalGroupRoleMappingsResponse
>("POST", "/iam/v2/externalGroupRoleMappings:batchDelete", "*");
export const getGroupInvite = method<GetGroupInviteRequest, GroupInvite>("GET", "/iam/v2/groupInvites/{uid=**}", "");
export const listGroupInvites = method<ListGroupInvitesRequest, ListGroupInvitesResponse>(
  "GET",
  "/iam/v2/groupInvites",
  "",
);
export const createGroupInvite = method<CreateGroupInviteRequest, GroupInvite>(
  "POST",
  "/iam/v2/groupInvites/{parent=**}",
  "groupInvite",
);
export const acceptGroupInvite = method<AcceptGroupInviteRequest, RoleBinding>(
  "POST",
  "/iam/v2/groupInvites:accept",
  "*",
);
export const updateGroupInvite = method<UpdateGroupInviteRequest, GroupInvite>(
  "PATCH",
  "/iam/v2/groupInvites/{groupInvite.uid=**}",
  "groupInvite",
);
export const deleteGroupInvite = method<DeleteGroupInviteRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/groupInvites/{uid=**}",
  "",
);
export const getGroup = method<GetGroupRequest, Group>("GET", "/iam/v2/groups/{uid=**}", "");
export const listGroups = method<ListGroupsRequest, ListGroupsResponse>("GET", "/iam/v2/groups", "");
export const createGroup = method<CreateGroupRequest, Group>("POST", "/iam/v2/groups/{parent=**}", "group");
export const updateGroup = method<UpdateGroupRequest, Group>("PATCH", "/iam/v2/groups/{group.uid=**}", "group");
export const deleteGroup = method<DeleteGroupRequest, Record<string, never>>("DELETE", "/iam/v2/groups/{uid=**}", "");
export const getIdentity = method<GetIdentityRequest, Identity>("GET", "/iam/v2/identities/{uid=**}", "");
export const listIdentities = method<ListIdentitiesRequest, ListIdentitiesResponse>("GET", "/iam/v2/identities", "");
export const lookupIdentity = method<LookupIdentityRequest, LookupIdentityResponse>(
  "GET",
  "/iam/v2/identities:lookupIdentity",
  "",
);
export const createIdentity = method<CreateIdentityRequest, Identity>(
  "POST",
  "/iam/v2/identities/{parent=**}",
  "identity",
);
export const updateIdentity = method<UpdateIdentityRequest, Identity>(
  "PATCH",
  "/iam/v2/identities/{identity.uid=**}",
  "identity",
);
export const deleteIdentity = method<DeleteIdentityRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/identities/{uid=**}",
  "",
);
export const checkIdentity = method<CheckIdentityRequest, CheckIdentityResponse>(
  "POST",
  "/iam/v2/identities/{uid=**}:checkIdentity",
  "*",
);
export const getIdentityProvider = method<GetIdentityProviderRequest, IdentityProvider>(
  "GET",
  "/iam/v2/identityProviders/{uid=**}",
  "",
);
export const listIdentityProviders = method<ListIdentityProvidersRequest, ListIdentityProvidersResponse>(
  "GET",
  "/iam/v2/identityProviders",
  "",
);
export const createIdentityProvider = method<CreateIdentityProviderRequest, IdentityProvider>(
  "POST",
  "/iam/v2/identityProviders/{parent=**}",
  "identityProvider",
);
export const updateIdentityProvider = method<UpdateIdentityProviderRequest, IdentityProvider>(
  "PATCH",
  "/iam/v2/identityProviders/{identityProvider.uid=**}",
  "identityProvider",
);
export const deleteIdentityProvider = method<DeleteIdentityProviderRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/identityProviders/{uid=**}",
  "",
);
export const getPersonalToken = method<GetPersonalTokenRequest, PersonalToken>(
  "GET",
  "/iam/v2/personalTokens/{uid=**}",
  "",
);
export const listPersonalTokens = method<ListPersonalTokensRequest, ListPersonalTokensResponse>(
  "GET",
  "/iam/v2/personalTokens",
  "",
);
export const createPersonalToken = method<CreatePersonalTokenRequest, PersonalToken>(
  "POST",
  "/iam/v2/personalTokens",
  "personalToken",
);
export const deletePersonalToken = method<DeletePersonalTokenRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/personalTokens/{uid=**}",
  "",
);
export const getRoleBinding = method<GetRoleBindingRequest, RoleBinding>("GET", "/iam/v2/roleBindings/{uid=**}", "");
export const listRoleBindings = method<ListRoleBindingsRequest, ListRoleBindingsResponse>(
  "GET",
  "/iam/v2/roleBindings",
  "",
);
export const createRoleBinding = method<CreateRoleBindingRequest, RoleBinding>(
  "POST",
  "/iam/v2/roleBindings/{parent=**}",
  "roleBinding",
);
export const batchCreateRoleBindings = method<BatchCreateRoleBindingsRequest, BatchCreateRoleBindingsResponse>(
  "POST",
  "/iam/v2/roleBindings:batchCreate",
  "*",
);
export const updateRoleBinding = method<UpdateRoleBindingRequest, RoleBinding>(
  "PATCH",
  "/iam/v2/roleBindings/{roleBinding.uid=**}",
  "roleBinding",
);
export const deleteRoleBinding = method<DeleteRoleBindingRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/roleBindings/{uid=**}",
  "",
);
export const getRole = method<GetRoleRequest, Role>("GET", "/iam/v2/roles/{uid=**}", "");
export const listRoles = method<ListRolesRequest, ListRolesResponse>("GET", "/iam/v2/roles", "");
export const createRole = method<CreateRoleRequest, Role>("POST", "/iam/v2/roles/{parent=**}", "role");
export const updateRole = method<UpdateRoleRequest, Role>("PATCH", "/iam/v2/roles/{role.uid=**}", "role");
export const deleteRole = method<DeleteRoleRequest, Record<string, never>>("DELETE", "/iam/v2/roles/{uid=**}", "");
export const listSessions = method<ListSessionsRequest, ListSessionsResponse>("GET", "/iam/v2/sessions", "");
export const deleteSession = method<DeleteSessionRequest, Record<string, never>>(
  "DELETE",
  "/iam/v2/sessions/{uid=**}",
  "",
);
export const acceptTerms = method<AcceptTermsRequest, AcceptTermsResponse>("POST", "/iam/v2/terms/{group=**}", "*");
export const listTermsAcceptances = method<ListTermsAcceptancesRequest, ListTermsAcceptancesResponse>(
  "GET",
  "/iam/v2/terms/{group=**}",
  "",
);
