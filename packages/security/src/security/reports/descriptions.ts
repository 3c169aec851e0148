import type { Call } from "@moorage/kernel/core/call";
import { vulnerabilityKey } from "../records/record.ts";
import type { Severity } from "../records/severities.ts";
import type { ImageFinding } from "../findings/read.ts";
import { partsOf } from "../resolved/describe.ts";
import { feedsOf, joinVulnerabilities } from "../vulnerabilities/join.ts";
import { knownVulnerabilities, type KnownVulnerability, unreadOf } from "../vulnerabilities/known-vulnerabilities.ts";

/** A vulnerability of an image, with all packages of the image that have it. */
export interface ReportedVulnerability extends Description {
  /** The CVE if there is one. */
  id: string;
  aliases: string[];
  severity: Severity;
  /** In the order of purls and ids. */
  findings: ImageFinding[];
}

/** What the feeds say about a vulnerability. */
interface Description {
  /** In one line. */
  summary: string;
  /** Markdown. */
  details: string;
  /** The addresses of pages about it, and those of them that are advisories. */
  pages: string[];
  advisories: string[];
  /** The highest score of each version of CVSS, such as 9.8 by 3.1. */
  scores: { version: string; score: number }[];
}

const NOTHING: Description = { summary: "", details: "", pages: [], advisories: [], scores: [] };

/** The vulnerabilities of findings, in the order of their ids, with what the feeds say about them. */
export async function describeFindings(
  call: Pick<Call, "tx" | "requireCaller">,
  findings: readonly ImageFinding[],
): Promise<ReportedVulnerability[]> {
  const groups = Map.groupBy(findings, ({ vulnerability }) => vulnerability.id);
  const described = await describe(call, [...groups.keys()]);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([id, group]) => {
      const [first] = group;
      if (first === undefined) return [];
      const { aliases, severity } = first.vulnerability;
      return [{ id, aliases, severity, findings: group, ...(described.get(vulnerabilityKey(id)) ?? NOTHING) }];
    });
}

/** What the feeds say, by the ids in lower case. */
async function describe(
  call: Pick<Call, "tx" | "requireCaller">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Description>> {
  const feeds = await feedsOf(call.tx);
  const joined = await joinVulnerabilities(call.tx, ids, feeds);
  const found = new Map<string, Description>();
  for (const part of partsOf(await unreadOf(call.tx, [...joined.values()], feeds))) {
    const known = await knownVulnerabilities(call.tx, part, feeds);
    for (const [at, one] of known.entries()) {
      const key = part[at]?.joined.key;
      if (key !== undefined) found.set(key, await descriptionOf(one));
    }
    call.requireCaller();
  }
  return found;
}

async function descriptionOf({ summary, details, references, vectors }: KnownVulnerability): Promise<Description> {
  return {
    summary,
    details,
    pages: references.map(({ url }) => url),
    advisories: references.filter(({ type }) => type === "ADVISORY").map(({ url }) => url),
    scores: await scoresOf(vectors),
  };
}

async function scoresOf(vectors: readonly { type: string; score: string }[]): Promise<Description["scores"]> {
  if (vectors.length === 0) return [];
  // Loaded at first use: what computes scores takes a library that few answers need.
  const { ratingOf } = await import("../records/severity.ts");
  const highest = new Map<string, number>();
  for (const vector of vectors) {
    const score = ratingOf([vector])?.score ?? null;
    if (score === null) continue;
    // A vector of CVSS 2 does not name its version.
    const version = /^CVSS:(\d\.\d)\//.exec(vector.score)?.[1] ?? "2.0";
    highest.set(version, Math.max(score, highest.get(version) ?? 0));
  }
  return [...highest].map(([version, score]) => ({ version, score })).sort((a, b) => (a.version < b.version ? 1 : -1));
}
