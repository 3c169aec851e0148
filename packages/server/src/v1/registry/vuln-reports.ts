import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { FindingSeverity } from "@moorage/api/messages";
import {
  Vulnerability_Fix_State as FixState,
  Vulnerability_Severity as Severity,
  type VulnerabilitySchema,
  type VulnReport,
  VulnReportSchema,
} from "@moorage/api/v1/registry";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import {
  describeFindings,
  feedsReadMs,
  imageReport,
  type ReportedImage,
  type ReportedVulnerability,
  type ScannedReport,
  scannedVulnerabilities,
  staleFeeds,
  staleText,
  stateOfImages,
} from "@moorage/security/security";
import { OWN_NAME, type ReportMaker, scannerOf } from "./scanners.ts";
import { SEVERITIES } from "./severities.ts";

/** Our own report about an image. */
export interface OwnReport {
  maker: ReportMaker;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** What it is made of. */
  vulnerabilities: ReportedVulnerability[];
  message: VulnReport;
}

/** Our own report, as of a time if one is given. Undefined when it is not known what the image holds. */
export async function ownReport(call: Call, image: ReportedImage, atMs?: number): Promise<OwnReport | undefined> {
  const report = await imageReport(call, { ...image, ...(atMs !== undefined && { atMs }) });
  if (report === undefined) return undefined;
  const { digest, createdMs, findings } = report;
  const maker = { name: OWN_NAME, version: "", builtMs: await feedsReadMs(call.tx, atMs) };
  const vulnerabilities = await describeFindings(call, findings);
  const { state, reason: stateReason, spaces } = await stateOfImages(call.tx, image);
  const stale = await staleFeeds(call.tx, call.nowMs, { spaces });
  const message = create(VulnReportSchema, {
    digest,
    state,
    stateReason,
    staleFeeds: stale.map(staleText),
    scanner: scannerOf(maker),
    createdAt: timestamp(createdMs),
    vulnerabilities: vulnerabilities.map(ownVulnerability),
  });
  return { maker, createdMs, vulnerabilities, message };
}

function ownVulnerability(each: ReportedVulnerability): MessageInitShape<typeof VulnerabilitySchema> {
  const { id, aliases, summary, details, severity, scores, pages, findings } = each;
  const isFixed = findings.some(({ state }) => state === "FIXED");
  const state = isFixed ? "FIXED" : findings.every((one) => one.state === "WONT_FIX") ? "WONT_FIX" : "NOT_FIXED";
  return {
    id,
    aliases,
    purls: [...new Set(findings.map(({ package: held }) => held.purl))],
    description: summary,
    details,
    severity: SEVERITIES[severity],
    cvss: scores.map(({ score, version }) => ({ score: score.toFixed(1), version })),
    fix: { versions: [...new Set(findings.flatMap(({ fixed }) => fixed))], state: FixState[state] },
    relatedUrls: pages,
    locations: [...new Set(findings.flatMap(({ places }) => places.map(({ path }) => path)))],
  };
}

const SCANNED: Readonly<Record<number, Severity>> = {
  [FindingSeverity.NEGLIGIBLE]: Severity.NEGLIGIBLE,
  [FindingSeverity.LOW]: Severity.LOW,
  [FindingSeverity.MEDIUM]: Severity.MEDIUM,
  [FindingSeverity.HIGH]: Severity.HIGH,
  [FindingSeverity.CRITICAL]: Severity.CRITICAL,
};

/** The report of an adapter. It names packages without purls and places, and states scores of CVSS 3. */
export async function scannedReport(call: Call, report: ScannedReport): Promise<VulnReport> {
  const groups = Map.groupBy(await scannedVulnerabilities(call, report), ({ id }) => id);
  return create(VulnReportSchema, {
    digest: report.digest,
    scanner: scannerOf(report),
    createdAt: timestamp(report.createdMs),
    vulnerabilities: [...groups].map(([id, all]) => {
      const versions = [...new Set(all.map(({ fixVersion }) => fixVersion).filter((version) => version !== ""))];
      const score = Math.max(...all.map((one) => one.score ?? 0));
      return {
        id,
        aliases: [],
        purls: [],
        description: all[0]?.description ?? "",
        details: "",
        severity: SCANNED[Math.max(...all.map(({ severity }) => severity))] ?? Severity.UNKNOWN,
        cvss: score === 0 ? [] : [{ score: score.toFixed(1), version: "3" }],
        fix: { versions, state: versions.length > 0 ? FixState.FIXED : FixState.NOT_FIXED },
        relatedUrls: [...new Set(all.flatMap(({ links }) => links))],
        locations: [],
      };
    }),
  });
}
