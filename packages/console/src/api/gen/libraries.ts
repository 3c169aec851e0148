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
