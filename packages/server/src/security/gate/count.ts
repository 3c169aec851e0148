import { FindingSeverity } from "@moorage/api/messages";
import { type GatedImage, type GateFinding, type GateRules, isSevere, MAX_NAMED } from "../../registry/index.ts";
import type { Database } from "../../store/index.ts";
import { findingsOfImage, type ImageFinding } from "../findings/read.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";

/** The findings of images that count for a gate. */
export interface Counted {
  count: number;
  /** The worst of them first, at most MAX_NAMED. */
  worst: GateFinding[];
  /** When the next one counts, in milliseconds since 1970, if nothing else changes. Infinity when none will. */
  untilMs: number;
}

export const NONE: Counted = { count: 0, worst: [], untilMs: Infinity };

/** The findings of one image that count at the time. An image of which nothing is known has none. */
export async function countFindings(
  tx: Database,
  { repo, digest }: GatedImage,
  rules: GateRules,
  nowMs: number,
  known?: KnownVulnerabilities,
): Promise<Counted> {
  const open = (await findingsOfImage(tx, { repo, digest, state: "open" }, known)) ?? [];
  const meant = open.filter((finding) => isMeant(finding, rules));
  const counted = meant.filter(({ sinceMs }) => nowMs - sinceMs >= rules.graceMs);
  const next = meant.filter(({ sinceMs }) => nowMs - sinceMs < rules.graceMs).map(({ sinceMs }) => sinceMs);
  return {
    count: counted.length,
    worst: counted
      .map((finding) => findingOf(finding, digest))
      .sort(fromTheWorst)
      .slice(0, MAX_NAMED),
    untilMs: next.reduce((least, sinceMs) => Math.min(least, sinceMs), Infinity) + rules.graceMs,
  };
}

/** The findings of several images together. */
export function together(counts: readonly Counted[]): Counted {
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    worst: counts
      .flatMap(({ worst }) => worst)
      .sort(fromTheWorst)
      .slice(0, MAX_NAMED),
    untilMs: counts.reduce((least, { untilMs }) => Math.min(least, untilMs), Infinity),
  };
}

function isMeant({ vulnerability: { severity, isExploited }, fixed }: ImageFinding, rules: GateRules): boolean {
  return isSevere(severity, rules) && (isExploited || !rules.exploitedOnly) && (fixed.length > 0 || !rules.fixableOnly);
}

function findingOf({ vulnerability, package: held, fixed }: ImageFinding, digest: string): GateFinding {
  const { id, severity, isExploited } = vulnerability;
  return { vulnerability: id, severity, isExploited, purl: held.purl, fixed, digest };
}

/** What is exploited comes first, then what is most severe. */
function fromTheWorst(a: GateFinding, b: GateFinding): number {
  const rank = ({ severity }: GateFinding): number => FindingSeverity[severity];
  const order = Number(b.isExploited) - Number(a.isExploited) || rank(b) - rank(a);
  const [one, other] = [`${a.vulnerability} ${a.purl}`, `${b.vulnerability} ${b.purl}`];
  return order || (one < other ? -1 : one > other ? 1 : 0);
}
