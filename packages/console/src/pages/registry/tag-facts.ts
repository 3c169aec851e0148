const SIGNATURE_TYPES = [
  "application/vnd.dev.cosign.artifact.sig.v1+json",
  "application/vnd.dev.cosign.simplesigning.v1+json",
  "application/vnd.cncf.notary.signature",
];
const BUNDLE = "application/vnd.dev.sigstore.bundle";

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
