// By itself: what computes a severity takes a library that only imports need.

/** Severities from the least to the worst. NEGLIGIBLE is a distribution's word, NONE a CVSS score of 0. */
export const SEVERITIES = ["UNKNOWN", "NONE", "NEGLIGIBLE", "LOW", "MEDIUM", "HIGH", "CRITICAL"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How many there are of each severity. */
export type SeverityCounts = Record<Lowercase<Severity>, number>;
