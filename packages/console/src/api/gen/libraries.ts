// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface GetArtifactPolicyRequest {
  uid?: string;
}
export interface ArtifactPolicy {
  uid: string;
  ecosystem: Ecosystem;
  description: string;
  mode: PolicyMode;
  cooldown?: string;
  blockMalware?: boolean;
  blockedPurls: string[];
  allowedPurls: string[];
  allowedLicenses: string[];
  deniedLicenses: string[];
  unknownLicense: UnknownLicense;
  createTime?: string;
  updateTime?: string;
}
export type Ecosystem = "ECOSYSTEM_UNSPECIFIED" | "ECOSYSTEM_JAVA" | "ECOSYSTEM_PYTHON" | "ECOSYSTEM_JAVASCRIPT";
export type PolicyMode = "POLICY_MODE_UNSPECIFIED" | "POLICY_MODE_PREVIEW" | "POLICY_MODE_ENFORCE";
export type UnknownLicense = "UNKNOWN_LICENSE_UNSPECIFIED" | "UNKNOWN_LICENSE_ALLOW" | "UNKNOWN_LICENSE_BLOCK";
export interface ListArtifactPoliciesRequest {
  uidp?: UIDPFilterInput;
  ecosystem?: Ecosystem;
  mode?: PolicyMode;
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
export interface ListArtifactPoliciesResponse {
  artifactPolicies: ArtifactPolicy[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateArtifactPolicyRequest {
  parent?: string;
  artifactPolicy?: ArtifactPolicyInput;
  validateOnly?: boolean;
}
export interface ArtifactPolicyInput {
  uid?: string;
  ecosystem?: Ecosystem;
  description?: string;
  mode?: PolicyMode;
  cooldown?: string;
  blockMalware?: boolean;
  blockedPurls?: string[];
  allowedPurls?: string[];
  allowedLicenses?: string[];
  deniedLicenses?: string[];
  unknownLicense?: UnknownLicense;
  createTime?: string;
  updateTime?: string;
}
export interface UpdateArtifactPolicyRequest {
  artifactPolicy?: ArtifactPolicyInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteArtifactPolicyRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetArtifactRequest {
  uid?: string;
}
export interface Artifact {
  uid: string;
  name: string;
  description: string;
  ecosystem: Ecosystem;
  latestVersion: string;
  versionCount: number;
  createTime?: string;
  updateTime?: string;
}
export interface ListArtifactsRequest {
  ecosystems?: Ecosystem[];
  query?: string;
  cudaVersion?: string;
  remediated?: boolean;
  pageSize?: number;
  pageToken?: string;
  skip?: number;
  orderBy?: string;
  uidp?: UIDPFilterInput;
}
export interface ListArtifactsResponse {
  artifacts: Artifact[];
  nextPageToken: string;
  totalCount: string;
  skipped: number;
}
export interface DeleteArtifactRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetArtifactVersionRequest {
  uid?: string;
}
export interface ArtifactVersion {
  uid: string;
  name: string;
  version: string;
  description: string;
  createTime?: string;
  updateTime?: string;
  sizeBytes: string;
  sourceType: SourceType;
  malwareScanned: boolean;
  malwareMalicious: boolean;
  upstreamPublishTime?: string;
  yanked: boolean;
  yankReason: string;
  deprecation: string;
}
export type SourceType =
  | "SOURCE_TYPE_UNSPECIFIED"
  | "SOURCE_TYPE_INTERNAL"
  | "SOURCE_TYPE_INTERNAL_REMEDIATED"
  | "SOURCE_TYPE_UPSTREAM_REGISTRY";
export interface ListArtifactVersionsRequest {
  artifactId?: string;
  pageSize?: number;
  pageToken?: string;
  skip?: number;
  orderBy?: string;
  uidp?: UIDPFilterInput;
}
export interface ListArtifactVersionsResponse {
  artifactVersions: ArtifactVersion[];
  nextPageToken: string;
  totalCount: string;
  skipped: number;
}
export interface ListArtifactImagesRequest {
  artifactId?: string;
  version?: string;
  pageSize?: number;
  pageToken?: string;
  skip?: number;
  uidp?: UIDPFilterInput;
}
export interface ListArtifactImagesResponse {
  artifactImages: ArtifactImage[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface ArtifactImage {
  repo: string;
  image: string;
  tag: string;
  digest: string;
  tagDigest: string;
  platform: string;
  version: string;
  purl: string;
  sinceTime?: string;
}
export interface UpdateArtifactVersionRequest {
  artifactVersion?: ArtifactVersionInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface ArtifactVersionInput {
  uid?: string;
  name?: string;
  version?: string;
  description?: string;
  createTime?: string;
  updateTime?: string;
  sizeBytes?: string;
  sourceType?: SourceType;
  malwareScanned?: boolean;
  malwareMalicious?: boolean;
  upstreamPublishTime?: string;
  yanked?: boolean;
  yankReason?: string;
  deprecation?: string;
}
export interface DeleteArtifactVersionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetArtifactCountRequest {
  ecosystems?: Ecosystem[];
}
export interface GetArtifactCountResponse {
  counts: GetArtifactCountResponseCount[];
}
export interface GetArtifactCountResponseCount {
  ecosystem: Ecosystem;
  totalCount: string;
}
export interface ListBlocksRequest {
  uidp?: UIDPFilterInput;
  ecosystem?: Ecosystem;
  name?: string;
  identity?: string;
  reason?: BlockReason;
  mode?: PolicyMode;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export type BlockReason =
  | "BLOCK_REASON_UNSPECIFIED"
  | "BLOCK_REASON_COOLDOWN"
  | "BLOCK_REASON_MALWARE"
  | "BLOCK_REASON_PURL"
  | "BLOCK_REASON_LICENSE";
export interface ListBlocksResponse {
  blocks: Block[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface Block {
  uid: string;
  ecosystem: Ecosystem;
  name: string;
  version: string;
  identity: string;
  reason: BlockReason;
  detail: string;
  mode: PolicyMode;
  count: number;
  firstTime?: string;
  lastTime?: string;
  openTime?: string;
}
export interface ListLibraryFindingsRequest {
  artifact?: string;
  version?: string;
  ecosystems?: Ecosystem[];
  vulnerabilities?: string[];
  minSeverity?: FindingSeverity;
  kev?: boolean;
  fixable?: boolean;
  malware?: boolean;
  pageSize?: number;
  pageToken?: string;
  uidp?: UIDPFilterInput;
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
export interface ListLibraryFindingsResponse {
  libraryFindings: LibraryFinding[];
  nextPageToken: string;
  coverage: LibraryCoverage[];
  notCompared: UncomparedLibraryVersion[];
  notComparedTotal: number;
  staleFeeds: StaleFeed[];
}
export interface LibraryFinding {
  vulnerability: string;
  aliases: string[];
  summary: string;
  artifact: string;
  artifactVersion: string;
  ecosystem: Ecosystem;
  name: string;
  version: string;
  purl: string;
  severity: FindingSeverity;
  score?: number;
  kev: boolean;
  epss?: number;
  epssPercentile?: number;
  malware: boolean;
  fixState: FixState;
  fixVersions: string[];
  lastAffectedVersions: string[];
  records: LibraryFindingRecord[];
}
export type FixState = "FIX_STATE_UNSPECIFIED" | "FIX_STATE_FIXED" | "FIX_STATE_NOT_FIXED" | "FIX_STATE_WONT_FIX";
export interface LibraryFindingRecord {
  feed: string;
  id: string;
  licence: string;
}
export interface LibraryCoverage {
  ecosystem: Ecosystem;
  state: KnowledgeState;
  preset: string;
}
export type KnowledgeState =
  "KNOWLEDGE_STATE_UNSPECIFIED" | "KNOWLEDGE_STATE_NOT_READ" | "KNOWLEDGE_STATE_NO_DATA" | "KNOWLEDGE_STATE_READ";
export interface UncomparedLibraryVersion {
  artifact: string;
  ecosystem: Ecosystem;
  name: string;
  version: string;
}
export interface StaleFeed {
  feed: string;
  successTime?: string;
  interval?: string;
}
export interface GetUpstreamRequest {
  uid?: string;
}
export interface Upstream {
  uid: string;
  ecosystem: Ecosystem;
  description: string;
  url: string;
  username: string;
  password?: string;
  reservedNames: string[];
  mergedNames: string[];
  disabled: boolean;
  lastSuccessTime?: string;
  lastError: string;
  lastErrorTime?: string;
  createTime?: string;
  updateTime?: string;
}
export interface ListUpstreamsRequest {
  uidp?: UIDPFilterInput;
  ecosystem?: Ecosystem;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListUpstreamsResponse {
  upstreams: Upstream[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateUpstreamRequest {
  parent?: string;
  upstream?: UpstreamInput;
  validateOnly?: boolean;
}
export interface UpstreamInput {
  uid?: string;
  ecosystem?: Ecosystem;
  description?: string;
  url?: string;
  username?: string;
  password?: string;
  reservedNames?: string[];
  mergedNames?: string[];
  disabled?: boolean;
  lastSuccessTime?: string;
  lastError?: string;
  lastErrorTime?: string;
  createTime?: string;
  updateTime?: string;
}
export interface UpdateUpstreamRequest {
  upstream?: UpstreamInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteUpstreamRequest {
  uid?: string;
  validateOnly?: boolean;
}
export const getArtifactPolicy = method<GetArtifactPolicyRequest, ArtifactPolicy>(
  "GET",
  "/libraries/v2/artifactPolicies/{uid=**}",
  "",
);
export const listArtifactPolicies = method<ListArtifactPoliciesRequest, ListArtifactPoliciesResponse>(
  "GET",
  "/libraries/v2/artifactPolicies",
  "",
);
export const createArtifactPolicy = method<CreateArtifactPolicyRequest, ArtifactPolicy>(
  "POST",
  "/libraries/v2/artifactPolicies/{parent=**}",
  "artifactPolicy",
);
export const updateArtifactPolicy = method<UpdateArtifactPolicyRequest, ArtifactPolicy>(
  "PATCH",
  "/libraries/v2/artifactPolicies/{artifactPolicy.uid=**}",
  "artifactPolicy",
);
export const deleteArtifactPolicy = method<DeleteArtifactPolicyRequest, Record<string, never>>(
  "DELETE",
  "/libraries/v2/artifactPolicies/{uid=**}",
  "",
);
export const getArtifact = method<GetArtifactRequest, Artifact>("GET", "/libraries/v2/artifacts/{uid=**}", "");
export const listArtifacts = method<ListArtifactsRequest, ListArtifactsResponse>("GET", "/libraries/v2/artifacts", "");
export const deleteArtifact = method<DeleteArtifactRequest, Record<string, never>>(
  "DELETE",
  "/libraries/v2/artifacts/{uid=**}",
  "",
);
export const getArtifactVersion = method<GetArtifactVersionRequest, ArtifactVersion>(
  "GET",
  "/libraries/v2/artifactVersions/{uid=**}",
  "",
);
export const listArtifactVersions = method<ListArtifactVersionsRequest, ListArtifactVersionsResponse>(
  "GET",
  "/libraries/v2/artifacts/{artifactId}/versions",
  "",
);
export const listArtifactImages = method<ListArtifactImagesRequest, ListArtifactImagesResponse>(
  "GET",
  "/libraries/v2/artifacts/{artifactId}/images",
  "",
);
export const updateArtifactVersion = method<UpdateArtifactVersionRequest, ArtifactVersion>(
  "PATCH",
  "/libraries/v2/artifactVersions/{artifactVersion.uid=**}",
  "artifactVersion",
);
export const deleteArtifactVersion = method<DeleteArtifactVersionRequest, Record<string, never>>(
  "DELETE",
  "/libraries/v2/artifactVersions/{uid=**}",
  "",
);
export const getArtifactCount = method<GetArtifactCountRequest, GetArtifactCountResponse>(
  "GET",
  "/libraries/v2/artifacts/count",
  "",
);
export const listBlocks = method<ListBlocksRequest, ListBlocksResponse>("GET", "/libraries/v2/blocks", "");
export const listLibraryFindings = method<ListLibraryFindingsRequest, ListLibraryFindingsResponse>(
  "GET",
  "/libraries/v2/findings",
  "",
);
export const getUpstream = method<GetUpstreamRequest, Upstream>("GET", "/libraries/v2/upstreams/{uid=**}", "");
export const listUpstreams = method<ListUpstreamsRequest, ListUpstreamsResponse>("GET", "/libraries/v2/upstreams", "");
export const createUpstream = method<CreateUpstreamRequest, Upstream>(
  "POST",
  "/libraries/v2/upstreams/{parent=**}",
  "upstream",
);
export const updateUpstream = method<UpdateUpstreamRequest, Upstream>(
  "PATCH",
  "/libraries/v2/upstreams/{upstream.uid=**}",
  "upstream",
);
export const deleteUpstream = method<DeleteUpstreamRequest, Record<string, never>>(
  "DELETE",
  "/libraries/v2/upstreams/{uid=**}",
  "",
);
