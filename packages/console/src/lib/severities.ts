/** Findings counted by severity. `other`: those that no severity is known of, or that count as harmless. */
export interface SeverityCounts {
  critical: number;
  high: number;
  medium: number;
  low: number;
  other: number;
}

/** The severities that have a place of their own, from the worst, with the words for them. */
export const SEVERITY_PLACES = [
  ["critical", "Critical", "C", "Crit"],
  ["high", "High", "H", "High"],
  ["medium", "Medium", "M", "Med"],
  ["low", "Low", "L", "Low"],
] as const;

/** How many findings there are of each severity. */
export function countSeverities(findings: readonly { severity: string }[]): SeverityCounts {
  const counts = { critical: 0, high: 0, medium: 0, low: 0, other: 0 };
  for (const { severity } of findings) {
    const word = severity.replace("FINDING_SEVERITY_", "").toLowerCase();
    const place = SEVERITY_PLACES.find(([each]) => each === word)?.[0] ?? "other";
    counts[place] += 1;
  }
  return counts;
}

/** `1 critical, 4 high, 0 medium, 2 low`; the others only where there are some. */
export function severityWords(counts: SeverityCounts): string {
  const words = SEVERITY_PLACES.map(([each]) => `${counts[each]} ${each}`);
  return [...words, ...(counts.other > 0 ? [`${counts.other} of other or unknown severity`] : [])].join(", ");
}
