import {
  ArtifactSchema,
  Ecosystem,
  FindingSeverity,
  FixState,
  KnowledgeState,
  LibraryFindingsService,
  type ListLibraryFindingsRequest,
  ListLibraryFindingsRequestSchema,
} from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type FieldViolation, invalidArgument, notFound } from "@moorage/kernel/errors";
import { isUid, isWithin } from "@moorage/kernel/lib/uid";
import { libraryCoverage, spaceOfLibraries, staleFeeds, staleMessage } from "@moorage/security/security";
import { purlOf } from "../artifacts/purls.ts";
import { allEcosystems } from "../ecosystem/lookup.ts";
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
      let asked: readonly number[] = request.ecosystems;
      if (artifact !== "") {
        const isVisible = isUid(artifact) && visible.some((group) => isWithin(artifact, group));
        const row =
          isVisible &&
          (await call.tx.selectFrom("artifacts").select("ecosystem").where("uid", "=", artifact).executeTakeFirst());
        if (!row) throw notFound(ArtifactSchema.typeName, artifact);
        asked = [row.ecosystem];
      }
      const scope = scopeOf(request.uidp, visible);
      const { rows, nextPageToken, notCompared, notComparedTotal } =
        scope.roots.length === 0
          ? { rows: [], nextPageToken: "", notCompared: [], notComparedTotal: 0 }
          : await listFindings(call, pageTokenKey, request, scope);
      const feeds = await call.tx.selectFrom("feeds").select(["name", "licence"]).execute();
      const licences = new Map(feeds.map(({ name, licence }) => [name, licence]));
      return {
        libraryFindings: rows.map((row) => messageOf(row, licences)),
        nextPageToken,
        notCompared: notCompared.map(({ artifact: of, version }) => {
          return { artifact: of.uid, ecosystem: of.ecosystem as Ecosystem, name: of.name, version };
        }),
        notComparedTotal,
        ...(request.pageToken === "" && (await knownOf(call, asked))),
      };
    },
  };
}

/** What feeds know of these ecosystems; of all without one. */
async function knownOf({ tx, nowMs }: Call, ecosystems: readonly number[]) {
  const all = allEcosystems().filter(({ number }) => ecosystems.length === 0 || ecosystems.includes(number));
  const covered = await libraryCoverage(
    tx,
    all.map(({ key }) => key),
  );
  const spaces = all.map(({ key }) => spaceOfLibraries(key));
  return {
    coverage: covered.map(({ state, preset }, at) => {
      return {
        ecosystem: (all[at]?.number ?? Ecosystem.UNSPECIFIED) as Ecosystem,
        state: KnowledgeState[state],
        preset,
      };
    }),
    staleFeeds: (await staleFeeds(tx, nowMs, { spaces })).map(staleMessage),
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
