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
export interface ArtifactVersion {
  uid: string;
  name: string;
  version: string;
  description: string;
  createTime?: string;
  updateTime?: string;
  sizeBytes: string;
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
export const listArtifacts = method<ListArtifactsRequest, ListArtifactsResponse>("GET", "/libraries/v2/artifacts", "");
export const listArtifactVersions = method<ListArtifactVersionsRequest, ListArtifactVersionsResponse>(
  "GET",
  "/libraries/v2/artifacts/{artifactId}/versions",
  "",
);
export const getArtifactCount = method<GetArtifactCountRequest, GetArtifactCountResponse>(
  "GET",
  "/libraries/v2/artifacts/count",
  "",
);
export const listBlocks = method<ListBlocksRequest, ListBlocksResponse>("GET", "/libraries/v2/blocks", "");
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
