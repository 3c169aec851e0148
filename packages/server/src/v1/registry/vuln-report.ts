import type { MessageInitShape } from "@bufbuild/protobuf";
import { toJsonString } from "@bufbuild/protobuf";
import { Registry, VulnReportSchema } from "@moorage/api/v1/registry";
import {
  Fix_State as FixState,
  type VulnerabilityMatchSchema,
  VulnerabilityRecord_Severity as Severity,
} from "@moorage/api/v1/tenant";
import { notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type ReportedVulnerability, sourcesFor } from "@moorage/security/security";
import { reading, type Translation } from "../service.ts";
import { lastSeen } from "./last-pull.ts";
import { packageMessage } from "./sbom.ts";
import { ownReport } from "./vuln-reports.ts";

// These reports know nothing less than low.
const SEVERITIES = {
  UNKNOWN: Severity.UNKNOWN,
  NONE: Severity.LOW,
  NEGLIGIBLE: Severity.LOW,
  LOW: Severity.LOW,
  MEDIUM: Severity.MEDIUM,
  HIGH: Severity.HIGH,
  CRITICAL: Severity.CRITICAL,
} as const;

/**
 * What is known now of the vulnerabilities of an image, or of all images of an index: one match for each package and
 * vulnerability. NOT_FOUND for an image that the repo does not hold, FAILED_PRECONDITION for one that is not read.
 */
export const vulnReport: Pick<Translation<typeof Registry>, "getVulnReport"> = {
  getVulnReport: reading(Registry.method.getVulnReport, async (call, { repoId: repo, digest }) => {
    await sourcesFor(call.tx, { repo, digest, architecture: "", source: "" });
    const report = await ownReport(call, { repo, digest });
    if (report === undefined) throw notFound("moorage.registry.v2.Image", digest);
    const { createdMs, maker, message, vulnerabilities } = report;
    return {
      id: digest,
      ...(maker.builtMs !== undefined && { vulnerabilityDbLastBuildTime: timestamp(maker.builtMs) }),
      vulnerabilityMatches: vulnerabilities.flatMap(matchesOf),
      scanner: { name: maker.name, version: maker.version },
      reportGeneration: timestamp(createdMs),
      staleFeeds: message.staleFeeds,
      rawVulnReport: Buffer.from(toJsonString(VulnReportSchema, message)),
      ...(await lastSeen(call.tx, repo, digest)),
    };
  }),
};

function matchesOf(each: ReportedVulnerability): MessageInitShape<typeof VulnerabilityMatchSchema>[] {
  const { id, aliases, summary, details, severity, scores, pages, advisories, findings } = each;
  return findings.map(({ package: held, records, fixed, state, claims }) => {
    const [first] = records;
    return {
      vulnerability: {
        id: first?.id ?? id,
        description: details || summary,
        severity: SEVERITIES[severity],
        source: first?.feed ?? "",
        cvss: scores.map(({ score, version }) => ({ score: score.toFixed(1), version })),
        // By CPE nothing is ever matched.
        cpeUri: [],
        relatedUrls: pages,
        advisories: Object.fromEntries(advisories.map((url) => [url.slice(url.lastIndexOf("/") + 1) || url, url])),
        relatedVulnerabilities: [
          ...records.slice(1).map((record) => ({ id: record.id, source: record.feed })),
          ...aliases
            .filter((alias) => !records.some((record) => record.id === alias))
            .map((alias) => ({ id: alias, source: "" })),
        ],
        displayId: id,
      },
      pkg: packageMessage(held),
      fix: { versions: fixed, state: FixState[state] },
      claims: [...new Set(claims.map(({ status }) => status))],
    };
  });
}
