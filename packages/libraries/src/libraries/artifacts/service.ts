import { create } from "@bufbuild/protobuf";
import {
  ArtifactSchema,
  ArtifactsService,
  Ecosystem,
  GetArtifactCountRequestSchema,
  ListArtifactsRequestSchema,
  ListArtifactsResponseSchema,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { neededFor } from "@moorage/kernel/aip/access";
import { listFound, listOf, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { queryPageArrays } from "@moorage/kernel/aip/page-query";
import { isWithin } from "@moorage/kernel/lib/uid";
import { storedGet } from "@moorage/kernel/aip/resource";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type Cells, layoutOf, storedPage } from "@moorage/kernel/core/stored-answer";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { type Row, statement } from "@moorage/kernel/store";
import type { Ecosystem as RulesOfEcosystem } from "../ecosystem/ecosystem.ts";
import { removeVersions } from "./changes.ts";
import { listArtifactImages } from "./images.ts";
import { isRemediated } from "./remediation.ts";
import { countArtifacts, isBuiltFor, isFoundBy, organizationsOf, queryArtifacts } from "./list.ts";
import { artifactRow, versionWithArtifact } from "./rows.ts";
import { messageOfVersion, VERSION_COLUMNS, versionMessages } from "./version-message.ts";
import { updateVersion } from "./version-updates.ts";

const LAYOUT = layoutOf(ArtifactSchema);
const ARTIFACTS = storedListOf(
  {
    method: ArtifactsService.method.listArtifacts,
    table: "artifacts",
    defaultOrder: "name",
    orderBy: sortable("name", "description", "ecosystem", "version_count", "create_time", "update_time", "uid"),
  },
  LAYOUT,
);
const getArtifact = storedGet("artifacts", LAYOUT);
const VERSIONS = listOf({
  method: ArtifactsService.method.listArtifactVersions,
  table: "artifact_versions",
  defaultOrder: "version desc",
  orderBy: { version: "sort_key", ...sortable("description", "create_time", "update_time", "size_bytes", "uid") },
});
const NEEDS = neededFor(ArtifactsService.method.listArtifacts);

const selectArtifact = statement<Row<"artifacts">>("select * from artifacts where uid = ?", ["text"]);

/**
 * What there is of libraries. They are published and installed by the protocols of their ecosystems. `ecosystems`:
 * those that are served.
 */
export function artifactsService(
  { pageTokenKey, terms = [] }: ServiceContext,
  ecosystems: readonly Pick<RulesOfEcosystem, "number" | "readme">[],
): Service<typeof ArtifactsService> {
  const numbers = ecosystems.map(({ number }) => number as Ecosystem).sort((one, other) => one - other);
  return {
    getArtifact: (call, { uid }) => getArtifact(call.tx, uid),
    async getArtifactReadme(call, { uid }) {
      const { ecosystem, state } = await artifactRow(call.tx, uid);
      const readme = ecosystems.find(({ number }) => number === ecosystem)?.readme;
      const kept = readme?.of(state);
      if (readme === undefined || kept === undefined) return {};
      const { text, contentType } = kept;
      // Cutting may have parted a pair of surrogates.
      return { text: text.toWellFormed(), cutOff: text.length >= readme.maxChars, contentType };
    },
    async deleteArtifact(call, { uid }) {
      await removeVersions(call, await artifactRow(call.tx, uid), () => true);
      return {};
    },
    async getArtifactVersion(call, { uid }) {
      const { artifact, version } = await versionWithArtifact(call.tx, uid);
      return await messageOfVersion(call.tx, artifact, version);
    },
    updateArtifactVersion: (call, request) => updateVersion(call, request, terms),
    async deleteArtifactVersion(call, { uid }) {
      const { artifact } = await versionWithArtifact(call.tx, uid);
      await removeVersions(call, artifact, (version) => version.uid === uid);
      return {};
    },
    async listArtifacts(call, request) {
      const violations = violationsOf(ListArtifactsRequestSchema, request).filter(
        // The page token has those of the first page.
        ({ description }) => request.pageToken === "" || description !== "is required",
      );
      if (violations.length > 0) throw invalidArgument(...violations);
      const organizations = organizationsOf(await call.visible(...NEEDS));
      let ecosystems: number[] = [];
      let isAskedRemediated = false;
      const { columns } = ARTIFACTS;
      const { rows, ...rest } = await listFound(
        call,
        pageTokenKey,
        ARTIFACTS,
        request,
        {
          filters(asked) {
            ecosystems = [...new Set(asked.ecosystems)];
            if (ecosystems.length === 0) throw invalidArgument({ field: "ecosystems", description: "is required" });
            if (ecosystems.includes(Ecosystem.UNSPECIFIED))
              throw invalidArgument({ field: "ecosystems", description: "must be one of the ecosystems" });
            isAskedRemediated = asked.remediated;
            return [
              ...(asked.query === "" ? [] : [isFoundBy(asked.query, ecosystems, organizations)]),
              ...(asked.cudaVersion === "" ? [] : [isBuiltFor(asked.cudaVersion)]),
            ];
          },
          foundBy: ({ query, cudaVersion, remediated }) =>
            query === "" && cudaVersion === "" && !remediated ? undefined : "uid",
        },
        async (query) => {
          const more = isAskedRemediated ? [await isRemediated(call.tx, organizations)] : [];
          return await queryArtifacts(call.tx, ecosystems, { ...query, filters: [...query.filters, ...more] }, columns);
        },
        (row: Cells, column) => row[columns.indexOf(column)],
      );
      return storedPage(
        ListArtifactsResponseSchema,
        ARTIFACTS.field,
        create(ListArtifactsResponseSchema, rest),
        LAYOUT,
        rows,
      );
    },
    async listArtifactVersions(call, request) {
      let artifact: Row<"artifacts"> | undefined;
      const columns: readonly string[] = VERSION_COLUMNS;
      const { rows, ...rest } = await listFound(
        call,
        pageTokenKey,
        VERSIONS,
        request,
        {
          scope(scope, { artifactId }) {
            const conditions = [...scope.conditions, sql`t.parent = ${artifactId}`];
            // All below the artifact, where no filter leaves a part of it out.
            return scope.conditions.length === 0 && scope.roots.some((root) => isWithin(artifactId, root))
              ? { roots: [artifactId], parent: artifactId, conditions }
              : { ...scope, conditions };
          },
        },
        async (query) => {
          const asked = query.scope.parent ?? request.artifactId;
          const [row] = await selectArtifact(call.tx, asked);
          if (row === undefined) throw notFound(ArtifactSchema.typeName, asked);
          artifact = row;
          const isWhole = query.scope.parent !== undefined && query.scope.conditions.length === 1;
          const page = await queryPageArrays(
            call.tx,
            "artifact_versions",
            isWhole ? { ...query, uncounted: true } : query,
            columns,
          );
          return isWhole ? { ...page, total: row.version_count } : page;
        },
        (row: Cells, column) => row[columns.indexOf(column)],
      );
      const found: Row<"artifacts"> | undefined = artifact;
      const artifactVersions = found === undefined ? [] : await versionMessages(call.tx, found, rows);
      return { artifactVersions, ...rest };
    },
    listArtifactImages: (call, request) => listArtifactImages(call, pageTokenKey, request),
    async getArtifactCount(call, request) {
      const violations = violationsOf(GetArtifactCountRequestSchema, request);
      if (violations.length > 0) throw invalidArgument(...violations);
      const asked = new Set(request.ecosystems);
      if (asked.has(Ecosystem.UNSPECIFIED))
        throw invalidArgument({ field: "ecosystems", description: "must be one of the ecosystems" });
      const counts = [];
      for (const ecosystem of numbers) {
        if (asked.size > 0 && !asked.has(ecosystem)) continue;
        counts.push({ ecosystem, totalCount: BigInt(await countArtifacts(call, ecosystem, NEEDS)) });
      }
      return { counts };
    },
  };
}
