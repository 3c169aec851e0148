// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

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
export type Ecosystem = "ECOSYSTEM_UNSPECIFIED" | "ECOSYSTEM_JAVA" | "ECOSYSTEM_PYTHON" | "ECOSYSTEM_JAVASCRIPT";
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
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
  sourceType: SourceType;
  malwareScanned: boolean;
  malwareMalicious: boolean;
  upstreamPublishTime?: string;
}
export type SourceType =
  | "SOURCE_TYPE_UNSPECIFIED"
  | "SOURCE_TYPE_INTERNAL"
  | "SOURCE_TYPE_INTERNAL_REMEDIATED"
  | "SOURCE_TYPE_UPSTREAM_REGISTRY";
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
export const listArtifacts = method<ListArtifactsRequest, ListArtifactsResponse>("GET", "/libraries/v2/artifacts", "");
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
export const getArtifactCount = method<GetArtifactCountRequest, GetArtifactCountResponse>(
  "GET",
  "/libraries/v2/artifacts/count",
  "",
);
export const listLibraryFindings = method<ListLibraryFindingsRequest, ListLibraryFindingsResponse>(
  "GET",
  "/libraries/v2/findings",
  "",
);
