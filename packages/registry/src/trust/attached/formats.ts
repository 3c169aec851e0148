// Which attached manifests may hold signatures, by what they say of themselves.

/** Layers and artifacts of cosign and of Sigstore. Source: cosign, specs/SIGNATURE_SPEC.md, BUNDLE_SPEC.md. */
export const SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json";
const COSIGN_ARTIFACT = "application/vnd.dev.cosign.artifact.sig.v1+json";
const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v0\.[1-9])?\+json(?:;version=0\.[1-9])?$/;
/** DSSE envelopes with in-toto statements. Source: cosign, specs/ATTESTATION_SPEC.md. */
export const DSSE = "application/vnd.dsse.envelope.v1+json";
export const IN_TOTO = "application/vnd.in-toto+json";
/** Notation's. Source: notaryproject/specifications, signature-specification.md. */
const NOTATION = "application/vnd.cncf.notary.signature";
const NOTATION_LAYERS: ReadonlySet<string> = new Set(["application/jose+json", "application/cose"]);

/** The types of artifacts that are signatures or signed attestations, in the order of the formats above. */
export const SIGNED_TYPES: readonly string[] = [COSIGN_ARTIFACT, DSSE, IN_TOTO, NOTATION];
/** How the types of bundles begin: each version has its own. */
export const BUNDLE_PREFIX = "application/vnd.dev.sigstore.bundle";

/** Whether the layer is a bundle of Sigstore. */
export function isBundle(mediaType: string): boolean {
  return BUNDLE.test(mediaType);
}

/** Whether the layer is an envelope of Notation. */
export function isNotation(mediaType: string): boolean {
  return NOTATION_LAYERS.has(mediaType);
}
