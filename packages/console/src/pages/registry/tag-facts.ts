const SEVERITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "NEGLIGIBLE", "NONE", "UNKNOWN"] as const;
const SIGNATURE_TYPES = [
  "application/vnd.dev.cosign.artifact.sig.v1+json",
  "application/vnd.dev.cosign.simplesigning.v1+json",
  "application/vnd.cncf.notary.signature",
];
const BUNDLE = "application/vnd.dev.sigstore.bundle";

/** How many findings there are of each severity, from the worst; those without any are left out. */
export function countSeverities(findings: readonly { severity: string }[]): [word: string, count: number][] {
  return SEVERITIES.map((severity): [string, number] => [
    severity.charAt(0) + severity.slice(1).toLowerCase(),
    findings.filter((each) => each.severity === `FINDING_SEVERITY_${severity}`).length,
  ]).filter(([, number]) => number > 0);
}

/** Whether a referrer signs its subject: cosign's and Notation's signatures, and bundles of sigstore. */
export function isSignature({ artifactType = "" }: { artifactType?: string }): boolean {
  return SIGNATURE_TYPES.includes(artifactType) || artifactType.startsWith(BUNDLE);
}

/** A pattern of a tag policy that matches this name alone. Source: RE2 syntax; docs/tags.md. */
export function patternOf(name: string): string {
  return name.replaceAll(/[.+*?()|[\]{}^$\\]/g, "\\$&");
}

/** The list of patterns with those for the names added which it does not have. */
export function withPatterns(patterns: readonly string[], names: readonly string[]): string[] {
  return [...new Set([...patterns, ...names.map(patternOf)])];
}
