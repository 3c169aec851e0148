// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

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
export type Ecosystem = "ECOSYSTEM_UNSPECIFIED" | "ECOSYSTEM_JAVA" | "ECOSYSTEM_PYTHON" | "ECOSYSTEM_JAVASCRIPT";
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
  yanked: boolean;
  yankReason: string;
  deprecation: string;
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
