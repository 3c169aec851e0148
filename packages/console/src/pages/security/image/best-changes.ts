import type { Finding } from "../../../api/gen/vulnerabilities.ts";
import { countSeverities, type SeverityCounts, SEVERITY_PLACES } from "../../../lib/severities.ts";

/** A change that ends findings: a package with the version that fixes them. */
export interface BestChange {
  package: string;
  version: string;
  counts: SeverityCounts;
  total: number;
  /** How many of them are known to be exploited. */
  exploited: number;
}

type Fixable = Pick<Finding, "package" | "fixVersions" | "severity" | "kev">;

/** The changes that end most, those of exploited and critical findings first. */
export function bestChanges(findings: readonly Fixable[], max: number): BestChange[] {
  const changes = new Map<string, { name: string; version: string; findings: Fixable[] }>();
  for (const finding of findings) {
    const [version] = finding.fixVersions;
    const name = finding.package?.name;
    if (version === undefined || name === undefined) continue;
    const key = `${name} ${version}`;
    const change = changes.get(key) ?? { name, version, findings: [] };
    change.findings.push(finding);
    changes.set(key, change);
  }
  return [...changes.values()]
    .map(({ name, version, findings: ended }) => ({
      package: name,
      version,
      counts: countSeverities(ended),
      total: ended.length,
      exploited: ended.filter(({ kev }) => kev).length,
    }))
    .sort((one, other) => compared(ranks(other), ranks(one)) || one.package.localeCompare(other.package, "en"))
    .slice(0, max);
}

/** `1 critical, 2 high`, and `exploited` where one of them is. */
export function endWords({ counts, exploited }: BestChange): string {
  const words = SEVERITY_PLACES.filter(([place]) => counts[place] > 0).map(([place]) => `${counts[place]} ${place}`);
  if (counts.other > 0) words.push(`${counts.other} of other or unknown severity`);
  return `Ends ${words.join(", ")}${exploited > 0 ? ", exploited" : ""}`;
}

function ranks({ counts, exploited, total }: BestChange): number[] {
  return [exploited, ...SEVERITY_PLACES.map(([place]) => counts[place]), total];
}

function compared(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
