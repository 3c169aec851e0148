import type { MessageShape } from "@bufbuild/protobuf";
import {
  type ListDocumentsResponse,
  ListResolvedVulnsReportsRequest_ImageRefSchema as V2ImageRef,
  ReferenceSchema as V2Reference,
  ReposService,
  ResolvedVulnSchema as V2ResolvedVuln,
  ResolvedVulnsReportSchema as V2Report,
  SecurityAdvisoryService,
  SeveritySchema as V2Severity,
  type StaleFeed,
  VulnerabilityMetadataSchema as V2Metadata,
} from "@moorage/api/messages";
import {
  DocumentListSchema,
  type DocumentSchema,
  ReferenceSchema,
  ResolvedVulnSchema,
  ResolvedVulnsReportFilter_ImageRefSchema,
  ResolvedVulnsReportListSchema,
  ResolvedVulnsReportSchema,
  SecurityAdvisory,
  SeveritySchema,
  VulnerabilityMetadataSchema,
} from "@moorage/api/v1/advisory";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Method } from "../../runtime/methods.ts";
import { mapping, nested, sameNumbers } from "../mapping.ts";
import { translated } from "../service.ts";
import { staleTextOf, staleTexts } from "../stale-texts.ts";
import { itemsOf, listed, type V2 } from "../v2.ts";
import { document } from "./documents.ts";

const severity = mapping(SeveritySchema, V2Severity, { type: sameNumbers("type"), score: "score" });
const reference = mapping(ReferenceSchema, V2Reference, { type: sameNumbers("type"), url: "url" });
const metadata = mapping(VulnerabilityMetadataSchema, V2Metadata, {
  id: "id",
  summary: "summary",
  details: "details",
  references: nested("references", reference),
  severity: nested("severities", severity),
});
const resolved = mapping(ResolvedVulnSchema, V2ResolvedVuln, {
  id: "id",
  aliases: "aliases",
  cvssSeverities: nested("cvssSeverities", severity),
});
const report = mapping(ResolvedVulnsReportSchema, V2Report, {
  date: "date",
  resolvedVulns: nested("resolvedVulns", resolved),
  state: "state",
  stateReason: "stateReason",
  staleFeeds: { field: "staleFeeds", toV1: (feed) => staleTextOf(feed as StaleFeed), toV2: () => undefined },
});
const imageRef = mapping(ResolvedVulnsReportFilter_ImageRefSchema, V2ImageRef, { repo: "repo", tags: "tags" });

/** The times of a range have other names in queries. */
const TIMES = { pathOf: (path: string) => ({ start_time: "from", end_time: "to" })[path] ?? path };

const { listDocuments, listResolvedVulnsReports, listVulnerabilityMetadata } = SecurityAdvisoryService.method;

/** moorage.advisory.SecurityAdvisory: documents and reports without pages, metadata in pages. */
export const securityAdvisory: [string, Method][] = translated(SecurityAdvisory, [TIMES], {
  listDocuments: (v2, { id, cves }) => listed(DocumentListSchema, v2.pages(listDocuments, { id, cves }), documentsOf),
  async listVulnerabilityMetadata(v2, { id, ids, pageSize, pageToken, orderBy, skip }) {
    const page = await v2.answer(listVulnerabilityMetadata, { id, ids, pageSize, pageToken, orderBy, skip });
    const { vulnerabilityMetadata, nextPageToken, totalCount = 0n, skipped, staleFeeds } = page;
    const items = vulnerabilityMetadata.map(metadata.toV1);
    return { items, nextPageToken, totalCount, skipped, staleFeeds: staleTexts(staleFeeds) };
  },
  async listResolvedVulnsReports(v2, { imageRefs, from, to }) {
    const asked = {
      imageRefs: imageRefs.map(imageRef.toV2),
      ...(from && { startTime: from }),
      ...(to && { endTime: to }),
    };
    try {
      const reports = v2.pages(listResolvedVulnsReports, asked);
      return await listed(ResolvedVulnsReportListSchema, reports, itemsOf(report, "resolvedVulnsReports"));
    } catch (error) {
      if (error instanceof MoorageError && error.code === Code.NotFound && !(await listsRepos(v2))) return {};
      throw error;
    }
  },
});

/** The documents of a page. The list itself has no place for the feeds that are stale: each has its own. */
function documentsOf({ documents, staleFeeds }: ListDocumentsResponse): MessageShape<typeof DocumentSchema>[] {
  const texts = new Map(staleFeeds.map((each) => [each.feed, staleTextOf(each)]));
  return documents.map((each) => {
    const feeds = new Set(each.advisories.map(({ feed }) => feed));
    return { ...document.toV1(each), staleFeeds: [...feeds].flatMap((feed) => texts.get(feed) ?? []) };
  });
}

/** Whether the caller may list any repo. To one who may not, lists of v1 are empty. */
async function listsRepos(v2: V2): Promise<boolean> {
  return (await v2.answer(ReposService.method.listRepos, { pageSize: 1 })).repos.length > 0;
}
