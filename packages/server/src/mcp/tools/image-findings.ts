import { FindingSeverity, FindingsService, FixState } from "@moorage/api/messages";
import { z } from "zod";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { findRepo } from "../find-resources.ts";
import { parseImageName, parseTime } from "../image-names.ts";
import { STATE, stateName, SUMMARY, summaryLines, summaryOf, uncomparedLines } from "../knowledge.ts";
import { IMAGE, linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN, timeText } from "../shared-schemas.ts";
import { STALE_FEEDS, staleLines, staleOf } from "../stale-feeds.ts";
import { defineTool } from "../tool.ts";

export const SEVERITIES = ["unknown", "none", "negligible", "low", "medium", "high", "critical"] as const;
const NUMBERS = {
  unknown: FindingSeverity.UNKNOWN,
  none: FindingSeverity.NONE,
  negligible: FindingSeverity.NEGLIGIBLE,
  low: FindingSeverity.LOW,
  medium: FindingSeverity.MEDIUM,
  high: FindingSeverity.HIGH,
  critical: FindingSeverity.CRITICAL,
} as const;

/** The name of a severity. */
export function severityName(severity: FindingSeverity): (typeof SEVERITIES)[number] {
  return SEVERITIES.find((name) => NUMBERS[name] === severity) ?? "unknown";
}

export const imageFindings = defineTool({
  name: "image_findings",
  description:
    "Lists the vulnerabilities that hold in an image, by what the installation's feeds say and what VEX documents and advisories say of them: with severity, affected package and the versions that fix it. The image may be named as of a time, acme/app:1.2@2026-01-31.",
  methods: [FindingsService.method.listFindings],
  input: z.object({
    image: IMAGE.describe("The image, as acme/team/app:1.2; without a tag and a digest all images of the repo."),
    min_severity: z.enum(SEVERITIES).optional().describe("Only what is at least as bad."),
    fixable: z.boolean().optional().describe("Only what has, or has not, a version that fixes it."),
    known_exploited: z.boolean().optional().describe("Only what is, or is not, known to be exploited."),
    vulnerability: z.string().max(200).default("").describe("Only this vulnerability, as CVE-2026-1234."),
    package: z.string().max(500).default("").describe("Only this package, by its name or purl."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    image: z.string(),
    findings: z.array(
      z.object({
        vulnerability: z.string(),
        severity: z.enum(SEVERITIES),
        score: z.number().optional().describe("CVSS, 0 to 10."),
        known_exploited: z.boolean(),
        package: z.string(),
        version: z.string(),
        purl: z.string(),
        fix_state: z.enum(["fixed", "not_fixed", "wont_fix", "unknown"]),
        fix_versions: z.array(z.string()),
        digest: z.string().describe("The image that it is in."),
        tags: z.array(z.string()),
        open_since: z.string(),
        claims: z
          .array(z.string())
          .describe("What attached documents say of it on the word of somebody whose word does not close it."),
      }),
    ),
    state: STATE.describe(
      "READ: the findings are known. NOT_READ: it is not known what the image holds. NO_DATA: no feed covers some of its packages. NOT_STATED: on other pages than the first, and for a whole repo.",
    ),
    unknown: z
      .array(z.object({ digest: z.string(), platform: z.string(), state: STATE, reason: z.string() }))
      .describe("Images whose findings are not known: that nothing was found in them says nothing."),
    unknown_summary: SUMMARY,
    not_compared: z
      .number()
      .describe(
        "On the first page of a list about one image: packages whose versions cannot be compared with those of records; image_coverage lists them.",
      ),
    stale_feeds: STALE_FEEDS,
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call, registryHost }, input) {
    const { path, tag, digest, time } = parseImageName("image", input.image, registryHost);
    const repo = await findRepo(call, path);
    const found = await call(FindingsService.method.listFindings, {
      repo,
      tag,
      digest,
      vulnerabilities: input.vulnerability === "" ? [] : [input.vulnerability],
      packages: input.package === "" ? [] : [input.package],
      pageSize: input.page_size,
      pageToken: input.page_token,
      ...(input.min_severity !== undefined && { minSeverity: NUMBERS[input.min_severity] }),
      ...(input.fixable !== undefined && { fixable: input.fixable }),
      ...(input.known_exploited !== undefined && { kev: input.known_exploited }),
      ...(time !== "" && { asOf: timestamp(parseTime("image", time)) }),
    });
    const findings = found.findings.map((finding) => ({
      vulnerability: finding.vulnerability,
      severity: severityName(finding.severity),
      ...(finding.score !== undefined && { score: finding.score }),
      known_exploited: finding.kev,
      package: finding.package?.name ?? "",
      version: finding.package?.version ?? "",
      purl: finding.package?.purl ?? "",
      fix_state: fixStateName(finding.fixState),
      fix_versions: finding.fixVersions,
      digest: finding.digest,
      tags: finding.tags,
      open_since: timeText(finding.openTime),
      claims: [...new Set(finding.claims.map(({ status }) => status))],
    }));
    const state = stateName(found.state);
    const unknown = found.unknownImages.map(({ digest: each, platform, reason, ...image }) => ({
      digest: each,
      platform,
      state: stateName(image.state),
      reason,
    }));
    const stale = staleOf(found.staleFeeds);
    const lines = findings.map(
      (each) =>
        `${each.vulnerability} ${each.severity} ${each.package} ${each.version}${each.fix_versions.length === 0 ? "" : `, fixed in ${each.fix_versions.join(", ")}`}${each.claims.length === 0 ? "" : `, claimed to be ${each.claims.join(", ")}`}`,
    );
    const summary = summaryOf(found.unknownSummary);
    const unknownLines = [
      ...unknown.map((each) => `Not known of ${each.platform || each.digest} (${each.state}): ${each.reason}.`),
      ...summaryLines(summary),
    ];
    if (lines.length === 0 && unknownLines.length === 0)
      lines.push(
        state === "NO_DATA" ? "Not known (NO_DATA): the server has no feed." : "No such finding on this page.",
      );
    // They are not cut off with the lines of a long list.
    const notes = [
      ...unknownLines,
      ...uncomparedLines(found.notCompared, "; image_coverage lists them"),
      ...staleLines(stale),
    ];
    return {
      answer: {
        image: input.image,
        findings,
        state,
        unknown,
        ...(summary !== undefined && { unknown_summary: summary }),
        not_compared: found.notCompared,
        stale_feeds: stale,
        next_page_token: found.nextPageToken,
      },
      text: [linesOf(lines, found.nextPageToken), ...notes].filter((line) => line !== "").join("\n"),
      resource: repo,
    };
  },
});

function fixStateName(state: FixState): "fixed" | "not_fixed" | "wont_fix" | "unknown" {
  switch (state) {
    case FixState.FIXED:
      return "fixed";
    case FixState.NOT_FIXED:
      return "not_fixed";
    case FixState.WONT_FIX:
      return "wont_fix";
    default:
      return "unknown";
  }
}
