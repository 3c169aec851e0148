// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface GetDiffRequest {
  repoUid?: string;
  from?: string;
  to?: string;
  format?: DiffFormat;
  pageSize?: number;
  pageToken?: string;
  asOf?: string;
}
export type DiffFormat = "DIFF_FORMAT_UNSPECIFIED" | "DIFF_FORMAT_MARKDOWN";
export interface Diff {
  from?: DiffSide;
  to?: DiffSide;
  platforms: PlatformDiff[];
  packages: PackageChange[];
  packagesComplete: boolean;
  addedPackages: number;
  removedPackages: number;
  changedPackages: number;
  truncated: boolean;
  nextPageToken: string;
  markdown: string;
  annotations: ValueChange[];
  vulnerabilities: VulnerabilityChange[];
  vulnerabilitiesComplete: boolean;
  addedVulnerabilities: number;
  removedVulnerabilities: number;
  changedVulnerabilities: number;
  staleFeeds: StaleFeed[];
}
export interface DiffSide {
  reference: string;
  tag: string;
  digest: string;
  time?: string;
  stored: boolean;
  mediaType: string;
  size: string;
  asOf?: string;
}
export interface PlatformDiff {
  platform: string;
  kind: ChangeKind;
  from?: DiffImage;
  to?: DiffImage;
  config: ValueChange[];
  labels: ValueChange[];
  annotations: ValueChange[];
  layers: LayerChange[];
}
export type ChangeKind =
  "CHANGE_KIND_UNSPECIFIED" | "CHANGE_KIND_ADDED" | "CHANGE_KIND_REMOVED" | "CHANGE_KIND_CHANGED";
export interface DiffImage {
  digest: string;
  size: string;
  layerCount: number;
  packagesState: PackagesState;
  packagesReason: string;
  packagesSource: string;
  vulnerabilitiesReason: string;
}
export type PackagesState =
  | "PACKAGES_STATE_UNSPECIFIED"
  | "PACKAGES_STATE_KNOWN"
  | "PACKAGES_STATE_WAITING"
  | "PACKAGES_STATE_FAILED"
  | "PACKAGES_STATE_MISSING"
  | "PACKAGES_STATE_NOT_PERMITTED";
export interface ValueChange {
  name: string;
  from?: string;
  to?: string;
}
export interface LayerChange {
  kind: ChangeKind;
  digest: string;
  mediaType: string;
  size: string;
}
export interface PackageChange {
  kind: ChangeKind;
  purl: string;
  name: string;
  fromVersions: string[];
  toVersions: string[];
  platforms: string[];
}
export interface VulnerabilityChange {
  kind: ChangeKind;
  vulnerability: string;
  aliases: string[];
  purl: string;
  name: string;
  severity: FindingSeverity;
  score?: number;
  kev: boolean;
  from?: VulnerabilityState;
  to?: VulnerabilityState;
  platforms: string[];
}
export type FindingSeverity =
  | "FINDING_SEVERITY_UNSPECIFIED"
  | "FINDING_SEVERITY_UNKNOWN"
  | "FINDING_SEVERITY_NONE"
  | "FINDING_SEVERITY_NEGLIGIBLE"
  | "FINDING_SEVERITY_LOW"
  | "FINDING_SEVERITY_MEDIUM"
  | "FINDING_SEVERITY_HIGH"
  | "FINDING_SEVERITY_CRITICAL";
export interface VulnerabilityState {
  state: FindingState;
  versions: string[];
  fixState: FixState;
  fixVersions: string[];
  closeReason: string;
  claims: string[];
}
export type FindingState = "FINDING_STATE_UNSPECIFIED" | "FINDING_STATE_OPEN" | "FINDING_STATE_CLOSED";
export type FixState = "FIX_STATE_UNSPECIFIED" | "FIX_STATE_FIXED" | "FIX_STATE_NOT_FIXED" | "FIX_STATE_WONT_FIX";
export interface StaleFeed {
  feed: string;
  successTime?: string;
  interval?: string;
}
export interface ListEolTagsRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  asOf?: string;
  pageSize?: number;
  pageToken?: string;
}
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
}
export interface ListEolTagsResponse {
  eolTags: EolTag[];
  nextPageToken: string;
  staleFeeds: StaleFeed[];
}
export interface EolTag {
  uid: string;
  name: string;
  digest: string;
  product: string;
  version: string;
  versionSource: string;
  productSource: ProductSource;
  release?: ProductVersion;
  status: EolTagStatus;
  graceExpireTime?: string;
  feed?: ProductFeed;
}
export type ProductSource =
  | "PRODUCT_SOURCE_UNSPECIFIED"
  | "PRODUCT_SOURCE_REPO"
  | "PRODUCT_SOURCE_LABEL"
  | "PRODUCT_SOURCE_IMAGE"
  | "PRODUCT_SOURCE_PACKAGE";
export interface ProductVersion {
  version: string;
  eolDate: string;
  eol: boolean;
  releaseDate: string;
  lts: boolean;
  latestVersion: string;
}
export type EolTagStatus = "EOL_TAG_STATUS_UNSPECIFIED" | "EOL_TAG_STATUS_IN_GRACE" | "EOL_TAG_STATUS_INACTIVE";
export interface ProductFeed {
  name: string;
  licence: string;
}
export interface GetArchitecturesRequest {
  repoUid?: string;
  digest?: string;
}
export interface GetArchitecturesResponse {
  architectures: string[];
}
export interface GetSizeRequest {
  repoUid?: string;
  digest?: string;
  architecture?: string;
}
export interface GetSizeResponse {
  size: string;
  architecture: string;
}
export interface ListPullsRequest {
  uidp?: UIDPFilterInput;
  repoUid?: string;
  tag?: string;
  digest?: string;
  identity?: string;
  startTime?: string;
  endTime?: string;
  groupBy?: PullGrouping[];
  format?: UsageFormat;
  pageSize?: number;
  pageToken?: string;
}
export type PullGrouping =
  | "PULL_GROUPING_UNSPECIFIED"
  | "PULL_GROUPING_DAY"
  | "PULL_GROUPING_REPO"
  | "PULL_GROUPING_TAG"
  | "PULL_GROUPING_DIGEST"
  | "PULL_GROUPING_IDENTITY";
export type UsageFormat = "USAGE_FORMAT_UNSPECIFIED" | "USAGE_FORMAT_CSV";
export interface ListPullsResponse {
  pulls: PullCount[];
  nextPageToken: string;
  coverage?: PullCoverage;
  csv: string;
}
export interface PullCount {
  day: string;
  repoUid: string;
  name: string;
  tag: string;
  digest: string;
  identity: string;
  count: string;
  bytes: string;
  firstTime?: string;
  lastTime?: string;
}
export interface PullCoverage {
  since?: string;
  lossyDays: string[];
  lossyDayCount: number;
}
export interface GetQuotaRequest {
  uid?: string;
}
export interface Quota {
  uid: string;
  bytes?: string;
  repos?: string;
  tags?: string;
  libraries?: string;
  softPercent: number;
  used?: QuotaUsage;
  state: QuotaState;
  createTime?: string;
  updateTime?: string;
}
export interface QuotaUsage {
  bytes?: string;
  repos: string;
  tags: string;
  libraries: string;
}
export type QuotaState =
  "QUOTA_STATE_UNSPECIFIED" | "QUOTA_STATE_COUNTING" | "QUOTA_STATE_OK" | "QUOTA_STATE_WARNED" | "QUOTA_STATE_EXCEEDED";
export interface ListQuotasRequest {
  uidp?: UIDPFilterInput;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListQuotasResponse {
  quotas: Quota[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateQuotaRequest {
  parent?: string;
  quota?: QuotaInput;
  validateOnly?: boolean;
}
export interface QuotaInput {
  uid?: string;
  bytes?: string;
  repos?: string;
  tags?: string;
  libraries?: string;
  softPercent?: number;
  used?: QuotaUsageInput;
  state?: QuotaState;
  createTime?: string;
  updateTime?: string;
}
export interface QuotaUsageInput {
  bytes?: string;
  repos?: string;
  tags?: string;
  libraries?: string;
}
export interface UpdateQuotaRequest {
  quota?: QuotaInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteQuotaRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetRepoRequest {
  uid?: string;
}
export interface Repo {
  uid: string;
  name: string;
  description: string;
  catalogTier: CatalogTier;
  bundles: string[];
  readme: string;
  aliases: string[];
  activeTags: string[];
  syncConfig?: SyncConfig;
  createTime?: string;
  updateTime?: string;
  tagPolicy?: TagPolicy;
  product?: RepoProduct;
  deprecation?: RepoDeprecation;
}
export type CatalogTier =
  | "CATALOG_TIER_UNSPECIFIED"
  | "CATALOG_TIER_APPLICATION"
  | "CATALOG_TIER_BASE"
  | "CATALOG_TIER_FIPS"
  | "CATALOG_TIER_AI"
  | "CATALOG_TIER_DEVTOOLS"
  | "CATALOG_TIER_COMMERCIAL";
export interface SyncConfig {
  source: string;
  tagPattern: string;
  interval?: string;
  pullThrough: boolean;
  username: string;
  password?: string;
  uniqueTags?: boolean;
  expirationTime?: string;
  gracePeriod?: boolean;
}
export interface TagPolicy {
  immutableTags: string[];
  protectedTags: string[];
  retention: TagRetentionRule[];
  historyRetention?: string;
  allowSparse: boolean;
  vulnerabilities?: VulnerabilityGate;
}
export interface TagRetentionRule {
  tagPattern: string;
  keepLast: number;
  keepFor?: string;
  keepPulledFor?: string;
  keepLastPulled: number;
}
export interface VulnerabilityGate {
  severity: FindingSeverity;
  fixableOnly: boolean;
  kev: boolean;
  graceDays: number;
  on: GateAction[];
  mode: GateMode;
  onUnknown: OnUnknown;
}
export type GateAction = "GATE_ACTION_UNSPECIFIED" | "GATE_ACTION_PULL" | "GATE_ACTION_PROMOTE";
export type GateMode = "GATE_MODE_UNSPECIFIED" | "GATE_MODE_PREVIEW" | "GATE_MODE_ENFORCE";
export type OnUnknown = "ON_UNKNOWN_UNSPECIFIED" | "ON_UNKNOWN_PASS" | "ON_UNKNOWN_HOLD";
export interface RepoProduct {
  id: string;
}
export interface RepoDeprecation {
  message: string;
  replacement: string;
  endTime?: string;
  block: boolean;
}
export interface ListReposRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  catalogTier?: CatalogTier;
  bundles?: string[];
}
export interface ListReposResponse {
  repos: Repo[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateRepoRequest {
  parent?: string;
  repo?: RepoInput;
  validateOnly?: boolean;
}
export interface RepoInput {
  uid?: string;
  name?: string;
  description?: string;
  catalogTier?: CatalogTier;
  bundles?: string[];
  readme?: string;
  aliases?: string[];
  activeTags?: string[];
  syncConfig?: SyncConfigInput;
  createTime?: string;
  updateTime?: string;
  tagPolicy?: TagPolicyInput;
  product?: RepoProductInput;
  deprecation?: RepoDeprecationInput;
}
export interface SyncConfigInput {
  source?: string;
  tagPattern?: string;
  interval?: string;
  pullThrough?: boolean;
  username?: string;
  password?: string;
  uniqueTags?: boolean;
  expirationTime?: string;
  gracePeriod?: boolean;
}
export interface TagPolicyInput {
  immutableTags?: string[];
  protectedTags?: string[];
  retention?: TagRetentionRuleInput[];
  historyRetention?: string;
  allowSparse?: boolean;
  vulnerabilities?: VulnerabilityGateInput;
}
export interface TagRetentionRuleInput {
  tagPattern?: string;
  keepLast?: number;
  keepFor?: string;
  keepPulledFor?: string;
  keepLastPulled?: number;
}
export interface VulnerabilityGateInput {
  severity?: FindingSeverity;
  fixableOnly?: boolean;
  kev?: boolean;
  graceDays?: number;
  on?: GateAction[];
  mode?: GateMode;
  onUnknown?: OnUnknown;
}
export interface RepoProductInput {
  id?: string;
}
export interface RepoDeprecationInput {
  message?: string;
  replacement?: string;
  endTime?: string;
  block?: boolean;
}
export interface UpdateRepoRequest {
  repo?: RepoInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteRepoRequest {
  uid?: string;
  validateOnly?: boolean;
  unlessPulledWithin?: string;
}
export interface GetRepoReadmeRequest {
  uid?: string;
}
export interface RepoReadme {
  uid: string;
  content: string;
}
export interface UpdateRepoReadmeRequest {
  repoReadme?: RepoReadmeInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface RepoReadmeInput {
  uid?: string;
  content?: string;
}
export interface PreviewTagRetentionRequest {
  uid?: string;
  tagPolicy?: TagPolicyInput;
  pageSize?: number;
  pageToken?: string;
}
export interface PreviewTagRetentionResponse {
  expiringTags: ExpiringTag[];
  nextPageToken: string;
  totalCount?: string;
  pullsUnknownCount: string;
  coverage?: PullCoverage;
}
export interface ExpiringTag {
  name: string;
  digest: string;
  updateTime?: string;
  rule: number;
}
export interface GetRepoSyncRequest {
  uid?: string;
}
export interface RepoSync {
  uid: string;
  state: SyncState;
  message: string;
  lastAttemptTime?: string;
  lastSuccessTime?: string;
  nextTime?: string;
  tagsSeen: number;
  manifestsCopied: string;
  bytesCopied: string;
  consecutiveFailures: number;
}
export type SyncState =
  | "SYNC_STATE_UNSPECIFIED"
  | "SYNC_STATE_PENDING"
  | "SYNC_STATE_RUNNING"
  | "SYNC_STATE_SUCCEEDED"
  | "SYNC_STATE_FAILED"
  | "SYNC_STATE_RATE_LIMITED";
export interface SyncRepoRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetSbomRequest {
  repoUid?: string;
  digest?: string;
  format?: SbomFormat;
  architecture?: string;
  source?: string;
}
export type SbomFormat = "SBOM_FORMAT_UNSPECIFIED" | "SBOM_FORMAT_CYCLONEDX" | "SBOM_FORMAT_SPDX";
export interface Sbom {
  format: SbomFormat;
  document?: Record<string, unknown>;
  sources: string[];
  contradictions: SbomContradiction[];
  contradictionsTotal: number;
}
export interface SbomContradiction {
  purl: string;
  version: string;
  sources: string[];
  contradictedBy: OtherVersions[];
}
export interface OtherVersions {
  source: string;
  versions: string[];
}
export interface GetRawSbomRequest {
  repoUid?: string;
  digest?: string;
  architecture?: string;
  source?: string;
}
export interface RawSbom {
  content: string;
  mediaType: string;
  source: string;
}
export interface GetAttachmentsRequest {
  repoUid?: string;
  digest?: string;
  unmatched?: boolean;
}
export interface GetAttachmentsResponse {
  attachments: Attachment[];
}
export interface Attachment {
  manifest: string;
  source: string;
  layer: string;
  mediaType: string;
  kind: string;
  state: AttachmentState;
  reason: string;
  packages: number;
  counts: boolean;
  attachTime?: string;
  statements: number;
  trusted: boolean;
  statementsTotal: number;
  statementsUnmatched: number;
  unmatched: UnmatchedStatement[];
  attachedBy: string;
}
export type AttachmentState = "STATE_UNSPECIFIED" | "STATE_WAITING" | "STATE_READ" | "STATE_REJECTED";
export interface UnmatchedStatement {
  vulnerabilities: string[];
  status: string;
  product: string;
  reason: string;
}
export interface SearchRequest {
  query?: string;
  uidp?: UIDPFilterInput;
  kinds?: SearchKind[];
  pageSize?: number;
  pageToken?: string;
}
export type SearchKind =
  "SEARCH_KIND_UNSPECIFIED" | "SEARCH_KIND_REPO" | "SEARCH_KIND_TAG" | "SEARCH_KIND_DIGEST" | "SEARCH_KIND_LABEL";
export interface SearchResponse {
  results: SearchResult[];
  nextPageToken: string;
}
export interface SearchResult {
  kind: SearchKind;
  repoUid: string;
  name: string;
  tag: string;
  tagUid: string;
  digest: string;
  labelKey: string;
  labelValue: string;
  updateTime?: string;
}
export interface GetSignatureExemptionRequest {
  uid?: string;
}
export interface SignatureExemption {
  uid: string;
  repo: string;
  digest: string;
  tag: string;
  reason: string;
  expireTime?: string;
  creator: string;
  createTime?: string;
}
export interface ListSignatureExemptionsRequest {
  uidp?: UIDPFilterInput;
  repo?: string;
  digest?: string;
  active?: boolean;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListSignatureExemptionsResponse {
  signatureExemptions: SignatureExemption[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateSignatureExemptionRequest {
  parent?: string;
  signatureExemption?: SignatureExemptionInput;
  validateOnly?: boolean;
}
export interface SignatureExemptionInput {
  uid?: string;
  repo?: string;
  digest?: string;
  tag?: string;
  reason?: string;
  expireTime?: string;
  creator?: string;
  createTime?: string;
}
export interface DeleteSignatureExemptionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetSignaturePolicyRequest {
  uid?: string;
}
export interface SignaturePolicy {
  uid: string;
  name: string;
  description: string;
  mode: GateMode;
  on: SignatureAction[];
  repoPattern: string;
  tagPattern: string;
  eachPlatform: boolean;
  rules: SignatureRule[];
  since?: string;
  holdTags: boolean;
  documentSigners: string[];
  createTime?: string;
  updateTime?: string;
}
export type SignatureAction =
  "SIGNATURE_ACTION_UNSPECIFIED" | "SIGNATURE_ACTION_PULL" | "SIGNATURE_ACTION_PROMOTE" | "SIGNATURE_ACTION_COPY";
export interface SignatureRule {
  name: string;
  signers: string[];
  threshold: number;
  predicateType: string;
  annotations: Record<string, string>;
  provenance?: SignatureProvenance;
  conditions: SignatureCondition[];
  maxAge?: string;
  sameName: boolean;
}
export interface SignatureProvenance {
  builderIds: string[];
  sourceUris: string[];
  sourceRefs: string[];
  buildTypes: string[];
}
export interface SignatureCondition {
  pointer: string;
  values: string[];
  atLeast?: number;
  atMost?: number;
  newerThan?: string;
}
export interface ListSignaturePoliciesRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  mode?: GateMode;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListSignaturePoliciesResponse {
  signaturePolicies: SignaturePolicy[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateSignaturePolicyRequest {
  parent?: string;
  signaturePolicy?: SignaturePolicyInput;
  validateOnly?: boolean;
}
export interface SignaturePolicyInput {
  uid?: string;
  name?: string;
  description?: string;
  mode?: GateMode;
  on?: SignatureAction[];
  repoPattern?: string;
  tagPattern?: string;
  eachPlatform?: boolean;
  rules?: SignatureRuleInput[];
  since?: string;
  holdTags?: boolean;
  documentSigners?: string[];
  createTime?: string;
  updateTime?: string;
}
export interface SignatureRuleInput {
  name?: string;
  signers?: string[];
  threshold?: number;
  predicateType?: string;
  annotations?: Record<string, string>;
  provenance?: SignatureProvenanceInput;
  conditions?: SignatureConditionInput[];
  maxAge?: string;
  sameName?: boolean;
}
export interface SignatureProvenanceInput {
  builderIds?: string[];
  sourceUris?: string[];
  sourceRefs?: string[];
  buildTypes?: string[];
}
export interface SignatureConditionInput {
  pointer?: string;
  values?: string[];
  atLeast?: number;
  atMost?: number;
  newerThan?: string;
}
export interface UpdateSignaturePolicyRequest {
  signaturePolicy?: SignaturePolicyInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteSignaturePolicyRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface PreviewSignaturePolicyRequest {
  parent?: string;
  signaturePolicy?: SignaturePolicyInput;
  pageSize?: number;
  pageToken?: string;
}
export interface PreviewSignaturePolicyResponse {
  tags: PreviewedTag[];
  nextPageToken: string;
  lookedAt: number;
  passed: SignatureOutcomeCount[];
}
export interface PreviewedTag {
  repo: string;
  repository: string;
  tag: string;
  digest: string;
  outcome: SignatureOutcome;
  reason: string;
}
export type SignatureOutcome =
  | "SIGNATURE_OUTCOME_UNSPECIFIED"
  | "SIGNATURE_OUTCOME_SIGNED"
  | "SIGNATURE_OUTCOME_UNSIGNED"
  | "SIGNATURE_OUTCOME_WAITING"
  | "SIGNATURE_OUTCOME_UNKNOWN"
  | "SIGNATURE_OUTCOME_EXEMPT"
  | "SIGNATURE_OUTCOME_HELD_BEFORE"
  | "SIGNATURE_OUTCOME_NOT_COVERED"
  | "SIGNATURE_OUTCOME_DOCUMENT";
export interface SignatureOutcomeCount {
  outcome: SignatureOutcome;
  count: number;
}
export interface ListImageSignaturesRequest {
  repoUid?: string;
  digest?: string;
  asOf?: string;
}
export interface ListImageSignaturesResponse {
  signatures: Signature[];
  counts: SignatureStateCount[];
  leftOut: number;
  pending: boolean;
}
export interface Signature {
  manifest: string;
  source: string;
  format: SignatureFormat;
  predicateType: string;
  attachTime?: string;
  detachTime?: string;
  attachedBy: string;
  identity: string;
  signedTime?: string;
  timeSource: SignatureTime;
  verdicts: SignatureVerdict[];
  state: SignatureState;
  code: SignatureCode;
  reason: string;
  number: number;
}
export type SignatureFormat =
  | "SIGNATURE_FORMAT_UNSPECIFIED"
  | "SIGNATURE_FORMAT_SIMPLE_SIGNING"
  | "SIGNATURE_FORMAT_BUNDLE"
  | "SIGNATURE_FORMAT_DSSE"
  | "SIGNATURE_FORMAT_NOTATION";
export type SignatureTime =
  "SIGNATURE_TIME_UNSPECIFIED" | "SIGNATURE_TIME_LOG" | "SIGNATURE_TIME_TIMESTAMP" | "SIGNATURE_TIME_REGISTRY";
export interface SignatureVerdict {
  signer: string;
  state: SignatureState;
  reason: string;
  fromTime?: string;
  untilTime?: string;
  code: SignatureCode;
  signerName: string;
  fingerprint: string;
}
export type SignatureState =
  | "SIGNATURE_STATE_UNSPECIFIED"
  | "SIGNATURE_STATE_TRUSTED"
  | "SIGNATURE_STATE_UNTRUSTED"
  | "SIGNATURE_STATE_INVALID"
  | "SIGNATURE_STATE_EXPIRED"
  | "SIGNATURE_STATE_REVOKED"
  | "SIGNATURE_STATE_WAITING";
export type SignatureCode =
  | "SIGNATURE_CODE_UNSPECIFIED"
  | "SIGNATURE_CODE_NOT_READ"
  | "SIGNATURE_CODE_UNREADABLE"
  | "SIGNATURE_CODE_UNKNOWN_FORMAT"
  | "SIGNATURE_CODE_NO_SIGNER"
  | "SIGNATURE_CODE_OTHER_SIGNER"
  | "SIGNATURE_CODE_OTHER_IMAGE"
  | "SIGNATURE_CODE_OTHER_PAYLOAD"
  | "SIGNATURE_CODE_EXPIRED"
  | "SIGNATURE_CODE_REVOKED"
  | "SIGNATURE_CODE_NOT_LOGGED"
  | "SIGNATURE_CODE_NO_TRUST_ROOT"
  | "SIGNATURE_CODE_BAD_CERTIFICATE";
export interface SignatureStateCount {
  state: SignatureState;
  code: SignatureCode;
  count: number;
}
export interface GetSignatureDecisionRequest {
  repoUid?: string;
  digest?: string;
  tag?: string;
  action?: SignatureAction;
}
export interface SignatureDecision {
  held: boolean;
  waiting: boolean;
  message: string;
  policies: SignaturePolicyDecision[];
}
export interface SignaturePolicyDecision {
  policy: string;
  name: string;
  mode: GateMode;
  outcome: SignatureOutcome;
  reason: string;
  rules: SignatureRuleDecision[];
}
export interface SignatureRuleDecision {
  name: string;
  outcome: SignatureOutcome;
  found: number;
  threshold: number;
  reason: string;
  subject: string;
}
export interface GetSignerRequest {
  uid?: string;
}
export interface Signer {
  uid: string;
  name: string;
  description: string;
  keys: SignerKey[];
  keyless?: SignerIdentity;
  x509?: SignerCertificates;
  requireLog: boolean;
  times: SignatureTime[];
  createTime?: string;
  updateTime?: string;
}
export interface SignerKey {
  pem: string;
  notBefore?: string;
  notAfter?: string;
  revokeTime?: string;
  fingerprint: string;
}
export interface SignerIdentity {
  trustRoot: string;
  issuer: string;
  subject: string;
  subjectPattern: string;
  extensions: Record<string, string>;
}
export interface SignerCertificates {
  roots: string[];
  scheme: SignerScheme;
  tsaRoots: string[];
  identities: string[];
  crls: string[];
  revokedFingerprints: string[];
  revocation: SignerRevocation;
}
export type SignerScheme = "SIGNER_SCHEME_UNSPECIFIED" | "SIGNER_SCHEME_X509" | "SIGNER_SCHEME_SIGNING_AUTHORITY";
export type SignerRevocation =
  "SIGNER_REVOCATION_UNSPECIFIED" | "SIGNER_REVOCATION_OFF" | "SIGNER_REVOCATION_CRL" | "SIGNER_REVOCATION_ONLINE";
export interface ListSignersRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListSignersResponse {
  signers: Signer[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateSignerRequest {
  parent?: string;
  signer?: SignerInput;
  validateOnly?: boolean;
}
export interface SignerInput {
  uid?: string;
  name?: string;
  description?: string;
  keys?: SignerKeyInput[];
  keyless?: SignerIdentityInput;
  x509?: SignerCertificatesInput;
  requireLog?: boolean;
  times?: SignatureTime[];
  createTime?: string;
  updateTime?: string;
}
export interface SignerKeyInput {
  pem?: string;
  notBefore?: string;
  notAfter?: string;
  revokeTime?: string;
  fingerprint?: string;
}
export interface SignerIdentityInput {
  trustRoot?: string;
  issuer?: string;
  subject?: string;
  subjectPattern?: string;
  extensions?: Record<string, string>;
}
export interface SignerCertificatesInput {
  roots?: string[];
  scheme?: SignerScheme;
  tsaRoots?: string[];
  identities?: string[];
  crls?: string[];
  revokedFingerprints?: string[];
  revocation?: SignerRevocation;
}
export interface UpdateSignerRequest {
  signer?: SignerInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteSignerRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface ListStorageRequest {
  uidp?: UIDPFilterInput;
  pageSize?: number;
  pageToken?: string;
}
export interface ListStorageResponse {
  storage: GroupStorage[];
  nextPageToken: string;
}
export interface GroupStorage {
  groupUid: string;
  name: string;
  own: boolean;
  blobBytes: string;
  sharedBytes: string;
  manifestBytes: string;
  blobs: string;
  manifests: string;
  repos: string;
  tags: string;
  truncated: boolean;
  largestRepos: RepoStorage[];
  libraries: string;
  libraryBytes: string;
}
export interface RepoStorage {
  repoUid: string;
  name: string;
  blobBytes: string;
  blobs: string;
}
export interface GetTagRequest {
  uid?: string;
}
export interface Tag {
  uid: string;
  name: string;
  digest: string;
  updateTime?: string;
  deprecated: boolean;
  bundles: string[];
  lastPullTime?: string;
}
export interface ListTagsRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  updatedSince?: string;
  includeReferrers?: boolean;
  includeDates?: boolean;
  includeEpochs?: boolean;
  digest?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  image?: string;
}
export interface ListTagsResponse {
  tags: Tag[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface ListTagMovesRequest {
  repoUid?: string;
  tag?: string;
  since?: string;
  before?: string;
  pageSize?: number;
  pageToken?: string;
}
export interface ListTagMovesResponse {
  moves: TagMove[];
  nextPageToken: string;
}
export interface TagMove {
  time?: string;
  digest: string;
  previousDigest: string;
  reason: string;
  actor: string;
}
export interface CreateTagRequest {
  parent?: string;
  tag?: TagInput;
  validateOnly?: boolean;
}
export interface TagInput {
  uid?: string;
  name?: string;
  digest?: string;
  updateTime?: string;
  deprecated?: boolean;
  bundles?: string[];
  lastPullTime?: string;
}
export interface DeleteTagRequest {
  uid?: string;
  validateOnly?: boolean;
  unlessPulledWithin?: string;
}
export interface PromoteTagsRequest {
  repoUid?: string;
  promotions?: TagPromotionInput[];
  validateOnly?: boolean;
}
export interface TagPromotionInput {
  name?: string;
  digest?: string;
  fromTag?: string;
  expectedDigest?: string;
}
export interface PromoteTagsResponse {
  tags: Tag[];
  unknownImages: UnknownImage[];
  staleFeeds: StaleFeed[];
}
export interface UnknownImage {
  tag: string;
  digest: string;
  reason: string;
  state: string;
}
export interface RollbackTagsRequest {
  repoUid?: string;
  rollbacks?: TagRollbackInput[];
  validateOnly?: boolean;
}
export interface TagRollbackInput {
  name?: string;
  digest?: string;
  time?: string;
  expectedDigest?: string;
}
export interface RollbackTagsResponse {
  tags: Tag[];
  unknownImages: UnknownImage[];
}
export interface ListUsageRequest {
  uidp?: UIDPFilterInput;
  startTime?: string;
  endTime?: string;
  period?: UsagePeriod;
  format?: UsageFormat;
  pageSize?: number;
  pageToken?: string;
}
export type UsagePeriod = "USAGE_PERIOD_UNSPECIFIED" | "USAGE_PERIOD_DAY" | "USAGE_PERIOD_MONTH";
export interface ListUsageResponse {
  usage: GroupUsage[];
  nextPageToken: string;
  coverage?: PullCoverage;
  csv: string;
}
export interface GroupUsage {
  groupUid: string;
  name: string;
  period: string;
  bytes?: string;
  bytesAtLeast: boolean;
  growth?: string;
  pulls?: string;
  trafficBytes?: string;
  incomplete: boolean;
  costLabels: Record<string, string>;
}
export interface ReportUsageRequest {
  source?: string;
  references?: UsageReferenceInput[];
}
export interface UsageReferenceInput {
  image?: string;
  digest?: string;
  time?: string;
}
export interface ReportUsageResponse {
  recorded: number;
  unknown: number[];
}
export interface GetPackageVersionMetadataRequest {
  package?: string;
}
export interface PackageVersionMetadata {
  product: string;
  versions: ProductVersion[];
  eolVersions: ProductVersion[];
  latestVersion: string;
  gracePeriodMonths: number;
  updateTime?: string;
  feed?: ProductFeed;
  staleFeeds: StaleFeed[];
}
export const getDiff = method<GetDiffRequest, Diff>("GET", "/registry/v2/repos/{repoUid=**}/diff", "");
export const listEolTags = method<ListEolTagsRequest, ListEolTagsResponse>("GET", "/registry/v2/eolTags", "");
export const getArchitectures = method<GetArchitecturesRequest, GetArchitecturesResponse>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/architectures",
  "",
);
export const getSize = method<GetSizeRequest, GetSizeResponse>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/size",
  "",
);
export const listPulls = method<ListPullsRequest, ListPullsResponse>("GET", "/registry/v2/pulls", "");
export const getQuota = method<GetQuotaRequest, Quota>("GET", "/registry/v2/quotas/{uid=**}", "");
export const listQuotas = method<ListQuotasRequest, ListQuotasResponse>("GET", "/registry/v2/quotas", "");
export const createQuota = method<CreateQuotaRequest, Quota>("POST", "/registry/v2/quotas/{parent=**}", "quota");
export const updateQuota = method<UpdateQuotaRequest, Quota>("PATCH", "/registry/v2/quotas/{quota.uid=**}", "quota");
export const deleteQuota = method<DeleteQuotaRequest, Record<string, never>>(
  "DELETE",
  "/registry/v2/quotas/{uid=**}",
  "",
);
export const getRepo = method<GetRepoRequest, Repo>("GET", "/registry/v2/repos/{uid=**}", "");
export const listRepos = method<ListReposRequest, ListReposResponse>("GET", "/registry/v2/repos", "");
export const createRepo = method<CreateRepoRequest, Repo>("POST", "/registry/v2/repos/{parent=**}", "repo");
export const updateRepo = method<UpdateRepoRequest, Repo>("PATCH", "/registry/v2/repos/{repo.uid=**}", "repo");
export const deleteRepo = method<DeleteRepoRequest, Record<string, never>>("DELETE", "/registry/v2/repos/{uid=**}", "");
export const getRepoReadme = method<GetRepoReadmeRequest, RepoReadme>("GET", "/registry/v2/repos/{uid=**}/readme", "");
export const updateRepoReadme = method<UpdateRepoReadmeRequest, RepoReadme>(
  "PATCH",
  "/registry/v2/repos/{repoReadme.uid=**}/readme",
  "repoReadme",
);
export const previewTagRetention = method<PreviewTagRetentionRequest, PreviewTagRetentionResponse>(
  "POST",
  "/registry/v2/repos/{uid=**}:previewTagRetention",
  "*",
);
export const getRepoSync = method<GetRepoSyncRequest, RepoSync>("GET", "/registry/v2/repos/{uid=**}/sync", "");
export const syncRepo = method<SyncRepoRequest, RepoSync>("POST", "/registry/v2/repos/{uid=**}:sync", "*");
export const getSbom = method<GetSbomRequest, Sbom>("GET", "/registry/v2/repos/{repoUid=**}/digests/{digest}/sbom", "");
export const getRawSbom = method<GetRawSbomRequest, RawSbom>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/rawSbom",
  "",
);
export const getAttachments = method<GetAttachmentsRequest, GetAttachmentsResponse>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/attachments",
  "",
);
export const search = method<SearchRequest, SearchResponse>("GET", "/registry/v2/search", "");
export const getSignatureExemption = method<GetSignatureExemptionRequest, SignatureExemption>(
  "GET",
  "/registry/v2/signatureExemptions/{uid=**}",
  "",
);
export const listSignatureExemptions = method<ListSignatureExemptionsRequest, ListSignatureExemptionsResponse>(
  "GET",
  "/registry/v2/signatureExemptions",
  "",
);
export const createSignatureExemption = method<CreateSignatureExemptionRequest, SignatureExemption>(
  "POST",
  "/registry/v2/signatureExemptions/{parent=**}",
  "signatureExemption",
);
export const deleteSignatureExemption = method<DeleteSignatureExemptionRequest, Record<string, never>>(
  "DELETE",
  "/registry/v2/signatureExemptions/{uid=**}",
  "",
);
export const getSignaturePolicy = method<GetSignaturePolicyRequest, SignaturePolicy>(
  "GET",
  "/registry/v2/signaturePolicies/{uid=**}",
  "",
);
export const listSignaturePolicies = method<ListSignaturePoliciesRequest, ListSignaturePoliciesResponse>(
  "GET",
  "/registry/v2/signaturePolicies",
  "",
);
export const createSignaturePolicy = method<CreateSignaturePolicyRequest, SignaturePolicy>(
  "POST",
  "/registry/v2/signaturePolicies/{parent=**}",
  "signaturePolicy",
);
export const updateSignaturePolicy = method<UpdateSignaturePolicyRequest, SignaturePolicy>(
  "PATCH",
  "/registry/v2/signaturePolicies/{signaturePolicy.uid=**}",
  "signaturePolicy",
);
export const deleteSignaturePolicy = method<DeleteSignaturePolicyRequest, Record<string, never>>(
  "DELETE",
  "/registry/v2/signaturePolicies/{uid=**}",
  "",
);
export const previewSignaturePolicy = method<PreviewSignaturePolicyRequest, PreviewSignaturePolicyResponse>(
  "POST",
  "/registry/v2/signaturePolicies/{parent=**}:preview",
  "*",
);
export const listImageSignatures = method<ListImageSignaturesRequest, ListImageSignaturesResponse>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/signatures",
  "",
);
export const getSignatureDecision = method<GetSignatureDecisionRequest, SignatureDecision>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/digests/{digest}/signatureDecision",
  "",
);
export const getSigner = method<GetSignerRequest, Signer>("GET", "/registry/v2/signers/{uid=**}", "");
export const listSigners = method<ListSignersRequest, ListSignersResponse>("GET", "/registry/v2/signers", "");
export const createSigner = method<CreateSignerRequest, Signer>("POST", "/registry/v2/signers/{parent=**}", "signer");
export const updateSigner = method<UpdateSignerRequest, Signer>(
  "PATCH",
  "/registry/v2/signers/{signer.uid=**}",
  "signer",
);
export const deleteSigner = method<DeleteSignerRequest, Record<string, never>>(
  "DELETE",
  "/registry/v2/signers/{uid=**}",
  "",
);
export const listStorage = method<ListStorageRequest, ListStorageResponse>("GET", "/registry/v2/storage", "");
export const getTag = method<GetTagRequest, Tag>("GET", "/registry/v2/tags/{uid=**}", "");
export const listTags = method<ListTagsRequest, ListTagsResponse>("GET", "/registry/v2/tags", "");
export const listTagMoves = method<ListTagMovesRequest, ListTagMovesResponse>(
  "GET",
  "/registry/v2/repos/{repoUid=**}/tags/{tag}/moves",
  "",
);
export const createTag = method<CreateTagRequest, Tag>("POST", "/registry/v2/tags/{parent=**}", "tag");
export const deleteTag = method<DeleteTagRequest, Record<string, never>>("DELETE", "/registry/v2/tags/{uid=**}", "");
export const promoteTags = method<PromoteTagsRequest, PromoteTagsResponse>(
  "POST",
  "/registry/v2/tags/{repoUid=**}:promote",
  "*",
);
export const rollbackTags = method<RollbackTagsRequest, RollbackTagsResponse>(
  "POST",
  "/registry/v2/tags/{repoUid=**}:rollback",
  "*",
);
export const listUsage = method<ListUsageRequest, ListUsageResponse>("GET", "/registry/v2/usage", "");
export const reportUsage = method<ReportUsageRequest, ReportUsageResponse>("POST", "/registry/v2/usage:report", "*");
export const getPackageVersionMetadata = method<GetPackageVersionMetadataRequest, PackageVersionMetadata>(
  "GET",
  "/registry/v2/versions/{package=**}",
  "",
);
