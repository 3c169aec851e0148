import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { VulnerabilityGateInput } from "../../api/gen/registry.ts";
import { type Finding, listFindings, type StaleFeed, type UnknownSummary } from "../../api/gen/vulnerabilities.ts";
import { collection } from "../../api/queries.ts";

const PAGE_SIZE = 200;
/** So much is read for a preview. */
const MAX_PAGES = 10;
const DAY_MS = 86_400_000;

/** The open findings that a gate means, whatever its grace period. */
export interface MeantFindings {
  findings: readonly Finding[];
  /** Whether these are all of them. */
  isWhole: boolean;
  /** Of how many images the findings are not known. */
  unknown: UnknownSummary | undefined;
  staleFeeds: readonly StaleFeed[];
  /** When they were read. */
  nowMs: number;
}

/** An image that tags of the repo point to, with findings that count for a gate. */
export interface GatedImage {
  digest: string;
  platform: string;
  tags: readonly string[];
  tagsTotal: number;
  /** How many findings count. */
  count: number;
  /** The vulnerability of one of the worst. */
  worst: Finding;
}

/** The findings of the repo's tagged images that such a gate means: those that the gate itself would count. */
export function meantQuery(repo: string, { severity, kev = false, fixableOnly = false }: VulnerabilityGateInput) {
  const request = {
    repo,
    pageSize: PAGE_SIZE,
    ...(severity !== undefined && { minSeverity: severity }),
    ...(kev && { kev }),
    ...(fixableOnly && { fixable: true }),
  };
  return queryOptions({
    queryKey: [collection(listFindings), "gate", request],
    queryFn: async ({ signal }): Promise<MeantFindings> => {
      const nowMs = Date.now();
      const first = await call(listFindings, request, { signal });
      const findings = [...first.findings];
      let pageToken = first.nextPageToken;
      for (let page = 1; page < MAX_PAGES && pageToken !== ""; page += 1) {
        const next = await call(listFindings, { ...request, pageToken }, { signal });
        findings.push(...next.findings);
        pageToken = next.nextPageToken;
      }
      const { unknownSummary: unknown, staleFeeds } = first;
      return { findings, isWhole: pageToken === "", unknown, staleFeeds, nowMs };
    },
  });
}

/** The images with findings that have been open for the grace period, those with the most first. */
export function gatedImages(findings: readonly Finding[], graceDays: number, nowMs: number): GatedImage[] {
  const counted = findings.filter(({ openTime }) => isOver(openTime, graceDays, nowMs));
  const images = Map.groupBy(counted, ({ digest }) => digest);
  return [...images.values()]
    .flatMap((each): GatedImage[] => {
      const [worst] = each.toSorted((one, other) => rankOf(other) - rankOf(one));
      if (worst === undefined) return [];
      const { digest, platform, tags, tagsTotal } = worst;
      return [{ digest, platform, tags, tagsTotal, count: each.length, worst }];
    })
    .toSorted((one, other) => other.count - one.count || (one.digest < other.digest ? -1 : 1));
}

/** A finding without a time counts only where there is no grace period. */
function isOver(openTime: string | undefined, graceDays: number, nowMs: number): boolean {
  if (!(graceDays > 0)) return true;
  return openTime !== undefined && nowMs - Date.parse(openTime) >= graceDays * DAY_MS;
}

const SEVERITIES = ["UNKNOWN", "NONE", "NEGLIGIBLE", "LOW", "MEDIUM", "HIGH", "CRITICAL"];

function rankOf({ severity, kev }: Finding): number {
  return SEVERITIES.indexOf(severity.replace("FINDING_SEVERITY_", "")) + (kev ? SEVERITIES.length : 0);
}
