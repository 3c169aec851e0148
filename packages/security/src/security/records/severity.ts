import calculator from "ae-cvss-calculator";
import { SEVERITIES, type Severity } from "./severities.ts";

export type { Severity };

/** A severity, and the CVSS score it comes from: null when it comes from a word. */
export interface Rating {
  severity: Severity;
  score: number | null;
}

export const UNRATED: Rating = { severity: "UNKNOWN", score: null };

// The types of OSV's severity, the newest version of CVSS first.
const VERSIONS = ["CVSS_V4", "CVSS_V3", "CVSS_V2"] as const;

const WORDS: Readonly<Record<string, Severity>> = {
  none: "NONE",
  negligible: "NEGLIGIBLE",
  unimportant: "NEGLIGIBLE",
  minor: "LOW",
  low: "LOW",
  moderate: "MEDIUM",
  medium: "MEDIUM",
  important: "HIGH",
  high: "HIGH",
  critical: "CRITICAL",
};

/**
 * The rating by the newest version of CVSS among these vectors; by the worst of them when there are several. Undefined
 * without a vector that gives a score. Source: OSV 1.7, severity[]; CVSS 2.0, 3.0, 3.1, 4.0.
 */
export function ratingOf(vectors: readonly { type: string; score: string }[]): Rating | undefined {
  for (const version of VERSIONS) {
    const scores = vectors.filter(({ type }) => type === version).flatMap(({ score }) => scoreOf(score) ?? []);
    if (scores.length === 0) continue;
    const score = Math.max(...scores);
    return { score, severity: version === "CVSS_V2" ? severityOfV2(score) : severityOf(score) };
  }
  return undefined;
}

/** The worst severity among the words of a distribution or a database; UNKNOWN for words that are not known. */
export function wordSeverity(...words: unknown[]): Severity {
  const known = words.map(
    (word) =>
      (typeof word === "string" && Object.hasOwn(WORDS, word.toLowerCase()) && WORDS[word.toLowerCase()]) || "UNKNOWN",
  );
  return known.reduce((worst, one) => (SEVERITIES.indexOf(one) > SEVERITIES.indexOf(worst) ? one : worst), "UNKNOWN");
}

function scoreOf(vector: string): number | undefined {
  // The longest vector of CVSS 4.0 with all metrics has some 200 characters.
  if (vector.length > 500) return undefined;
  // CVSS 3.0 leaves open how binary fractions are rounded up, and the calculator gives 2.3 as 2.4. Version 3.1 has the
  // same equations, but for environmental metrics, with a rounding that is defined.
  const isSameIn31 = vector.startsWith("CVSS:3.0/") && !/\/(?:[CIA]R|M[A-Z]+):/.test(vector);
  const parsed = calculator.fromVector(isSameIn31 ? vector.replace("CVSS:3.0", "CVSS:3.1") : vector) as {
    isBaseFullyDefined(): boolean;
    calculateScores(): { overall?: number };
  } | null;
  if (!parsed?.isBaseFullyDefined()) return undefined;
  const { overall } = parsed.calculateScores();
  // The calculator gives -0 to some vectors of CVSS 2.0.
  return overall !== undefined && overall >= 0 && overall <= 10 ? overall + 0 : undefined;
}

function severityOf(score: number): Severity {
  if (score === 0) return "NONE";
  return score < 4 ? "LOW" : score < 7 ? "MEDIUM" : score < 9 ? "HIGH" : "CRITICAL";
}

// CVSS 2.0 has no word of its own; NVD's go up to HIGH.
function severityOfV2(score: number): Severity {
  return score < 4 ? "LOW" : score < 7 ? "MEDIUM" : "HIGH";
}
