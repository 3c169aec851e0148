import {
  ArtifactSchema,
  Ecosystem,
  FindingSeverity,
  FixState,
  LibraryFindingsService,
  type ListLibraryFindingsRequest,
  ListLibraryFindingsRequestSchema,
} from "@moorage/api/messages";
import { neededFor } from "../../aip/access.ts";
import { scopeOf } from "../../aip/scope.ts";
import { violationsOf } from "../../aip/validate.ts";
import type { Service, ServiceContext } from "../../core/service.ts";
import { type FieldViolation, invalidArgument, notFound } from "../../errors.ts";
import { isUid, isWithin } from "../../lib/uid.ts";
import { purlOf } from "../artifacts/purls.ts";
import type { LibraryFinding } from "./find.ts";
import { listFindings } from "./list.ts";

const NEEDS = neededFor(LibraryFindingsService.method.listLibraryFindings);

/** Vulnerabilities of libraries: docs/libraries.md, "Vulnerabilities". */
export function libraryFindingsService({ pageTokenKey }: ServiceContext): Service<typeof LibraryFindingsService> {
  return {
    async listLibraryFindings(call, request) {
      const violations = violationsIn(request);
      if (violations.length > 0) throw invalidArgument(...violations);
      const visible = await call.visible(...NEEDS);
      const { artifact } = request;
      if (artifact !== "") {
        const isVisible = isUid(artifact) && visible.some((group) => isWithin(artifact, group));
        const row =
          isVisible &&
          (await call.tx.selectFrom("artifacts").select("uid").where("uid", "=", artifact).executeTakeFirst());
        if (!row) throw notFound(ArtifactSchema.typeName, artifact);
      }
      const scope = scopeOf(request.uidp, visible);
      const { rows, nextPageToken } =
        scope.roots.length === 0
          ? { rows: [], nextPageToken: "" }
          : await listFindings(call, pageTokenKey, request, scope);
      const feeds = await call.tx.selectFrom("feeds").select(["name", "licence"]).execute();
      const licences = new Map(feeds.map(({ name, licence }) => [name, licence]));
      return { libraryFindings: rows.map((row) => messageOf(row, licences)), nextPageToken };
    },
  };
}

function violationsIn(request: ListLibraryFindingsRequest): FieldViolation[] {
  const { pageSize, version, artifact, ecosystems, vulnerabilities } = request;
  const hasNull = (text: string): boolean => text.includes("\0");
  return [
    ...violationsOf(ListLibraryFindingsRequestSchema, request),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...(version !== "" && artifact === "" ? [{ field: "version", description: "needs an artifact" }] : []),
    ...(ecosystems.includes(Ecosystem.UNSPECIFIED)
      ? [{ field: "ecosystems", description: "must be one of the ecosystems" }]
      : []),
    ...(hasNull(version) ? [{ field: "version", description: "must not have a null character" }] : []),
    ...(vulnerabilities.some((id) => id === "" || hasNull(id))
      ? [{ field: "vulnerabilities", description: "must be ids, such as CVE-2021-44228" }]
      : []),
  ];
}

function messageOf(finding: LibraryFinding, licences: ReadonlyMap<string, string>) {
  const { artifact, version, vulnerability, fixed, records } = finding;
  const { id, aliases, severity, score, isExploited, epss } = vulnerability;
  const unfixed = finding.isWontFix ? FixState.WONT_FIX : FixState.NOT_FIXED;
  return {
    vulnerability: id,
    aliases,
    summary: finding.summary,
    artifact: artifact.uid,
    artifactVersion: version.uid,
    ecosystem: artifact.ecosystem as Ecosystem,
    name: artifact.name,
    version: version.version,
    purl: purlOf(artifact, version.version),
    severity: FindingSeverity[severity],
    ...(score !== undefined && { score }),
    kev: isExploited,
    ...(epss !== undefined && { epss: epss.epss, epssPercentile: epss.percentile }),
    malware: finding.isMalware,
    fixState: fixed.length > 0 ? FixState.FIXED : unfixed,
    fixVersions: fixed,
    lastAffectedVersions: finding.lastAffected,
    records: records.map((record) => ({ ...record, licence: licences.get(record.feed) ?? "" })),
  };
}
