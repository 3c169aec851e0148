import { create } from "@bufbuild/protobuf";
import {
  ArtifactSchema as V2Artifact,
  ArtifactsService,
  ArtifactVersionSchema as V2Version,
  Ecosystem as V2Ecosystem,
  EcosystemSchema as V2EcosystemSchema,
  GetArtifactCountResponse_CountSchema as V2Count,
  ListArtifactsRequestSchema,
} from "@moorage/api/messages";
import {
  ArtifactFilterSchema,
  Artifacts,
  ArtifactSchema,
  ArtifactVersionListSchema,
  ArtifactVersionSchema,
  GetArtifactCountResponse_CountSchema,
} from "@moorage/api/v1/libraries";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Method } from "../../runtime/methods.ts";
import { type Converted, mapping, sameNumbers, V1_ONLY } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed } from "../v2.ts";

const artifact = mapping(ArtifactSchema, V2Artifact, {
  id: "uid",
  name: "name",
  description: "description",
  ecosystem: sameNumbers("ecosystem"),
  latestVersion: "latestVersion",
  versionCount: "versionCount",
  createdAt: "createTime",
  updatedAt: "updateTime",
});
const version = mapping(ArtifactVersionSchema, V2Version, {
  id: "uid",
  name: "name",
  version: "version",
  description: "description",
  createdAt: "createTime",
  updatedAt: "updateTime",
  sizeBytes: "sizeBytes",
  sourceType: sameNumbers("sourceType"),
  malwareScanned: "malwareScanned",
  malwareMalicious: "malwareMalicious",
  upstreamPublishedDate: "upstreamPublishTime",
});

const totalArtifacts: Converted<"totalCount"> = {
  field: "totalCount",
  toV1: (value) => Number(value),
  toV2: (value) => BigInt(value as number),
};
const count = mapping(GetArtifactCountResponse_CountSchema, V2Count, {
  ecosystem: sameNumbers("ecosystem"),
  totalArtifacts,
});
const filter = mapping(ArtifactFilterSchema, ListArtifactsRequestSchema, {
  ecosystems: sameNumbers("ecosystems"),
  query: "query",
  cudaVersion: "cudaVersion",
  remediated: "remediated",
  includeUpstream: V1_ONLY,
  // Errors name them as those of v2 do.
  pageSize: V1_ONLY,
  pageToken: V1_ONLY,
  skip: V1_ONLY,
});

const ALL: readonly V2Ecosystem[] = V2EcosystemSchema.values
  .map(({ number }) => number as V2Ecosystem)
  .filter((number) => number !== V2Ecosystem.UNSPECIFIED);
const { getArtifactCount, listArtifacts, listArtifactVersions } = ArtifactsService.method;

/** moorage.libraries.Artifacts: artifacts in pages, versions without. */
export const artifacts: [string, Method][] = translated(Artifacts, [filter], {
  async list(v2, request) {
    const { pageSize, pageToken, skip } = request;
    const asked = { ...filter.toV2(request), pageSize, pageToken, skip };
    const ecosystems = asked.ecosystems.length === 0 && asked.pageToken === "" ? [...ALL] : asked.ecosystems;
    const page = await v2.answer(listArtifacts, { ...asked, ecosystems });
    return {
      items: page.artifacts.map(artifact.toV1),
      nextPageToken: page.nextPageToken,
      totalArtifacts: Number(page.totalCount),
      skipped: page.skipped,
    };
  },
  async listVersions(v2, { id }) {
    try {
      const pages = v2.pages(listArtifactVersions, { artifactId: id });
      return await listed(ArtifactVersionListSchema, pages, itemsOf(version, "artifactVersions"));
    } catch (error) {
      if (error instanceof MoorageError && error.code === Code.NotFound) return {};
      throw error;
    }
  },
  async getArtifactCount(v2, { ecosystems }) {
    const asked = filter.toV2(create(ArtifactFilterSchema, { ecosystems }));
    const { counts } = await v2.answer(getArtifactCount, { ecosystems: asked.ecosystems });
    return { counts: counts.map(count.toV1) };
  },
});
