// Which attached manifests and layers may hold documents, by what their media types say.

/** Documents of JSON, alone or in an envelope, and several of these, one a line. */
const DOCUMENT =
  /^(?:application\/(?:vnd\.cyclonedx\+json|vnd\.cyclonedx\.vex\+json|(?:vnd\.)?spdx\+json|(?:vnd\.)?openvex\+json|vnd\.openvex|(?:vnd\.)?csaf\+json|vnd\.in-toto(?:\.[a-z-]+)?\+jsonl?|vnd\.in-toto\.bundle|vnd\.dsse\.envelope\.v1\+jsonl?|vnd\.dev\.sigstore\.bundle(?:\.v[0-9.]+)?\+jsonl?|jsonl|jsonlines|x-ndjson)|text\/spdx\+json)$/;
/** Documents of the same formats in another notation, which are named as not read. */
const OTHER_NOTATION = /^(?:application\/(?:vnd\.cyclonedx(?:\+xml)?|vnd\.syft\+json)|text\/spdx(?:\+xml)?)$/;
/** Types of artifacts that say nothing about their layers: clients that do not state one. */
const GENERAL =
  /^(?:|application\/vnd\.(?:oci\.empty\.v1|oci\.image\.config\.v1|docker\.container\.image\.v1|docker\.attestation\.manifest\.v1)\+json)$/;

/** Whether the type is that of a document, read or named as not read. */
export function isDocumentType(mediaType: string): boolean {
  return DOCUMENT.test(mediaType) || OTHER_NOTATION.test(mediaType);
}

export function isReadType(mediaType: string): boolean {
  return !OTHER_NOTATION.test(mediaType);
}

/** Whether a referrer of this type may hold documents. */
export function mayHoldDocuments(artifactType: string): boolean {
  return isDocumentType(artifactType) || GENERAL.test(artifactType);
}

/**
 * The kinds of predicates that are read. Source: in-toto's attestation repository, spec/predicates; cosign,
 * specs/ATTESTATION_SPEC.md.
 */
const PREDICATES: readonly (readonly [kind: PredicateKind, type: RegExp])[] = [
  ["cyclonedx", /^https:\/\/cyclonedx\.org\/(?:bom|schema)(?:\/|$)/i],
  ["cyclonedx-vex", /^https:\/\/cyclonedx\.org\/vex(?:\/|$)/i],
  ["spdx", /^https:\/\/spdx\.dev\/document(?:\/|$)/i],
  ["openvex", /^https:\/\/openvex\.dev\/ns(?:\/|$)/i],
  ["csaf", /^https:\/\/docs\.oasis-open\.org\/csaf\//i],
];

/** `cyclonedx-vex`: a document whose components are no list of what the image holds. */
export type PredicateKind = "cyclonedx" | "cyclonedx-vex" | "spdx" | "openvex" | "csaf";

/** The media type of CycloneDX as VEX. */
export const CYCLONEDX_VEX = "application/vnd.cyclonedx.vex+json";

/** What a predicate of this type is; undefined for those of other kinds, such as provenance. */
export function kindOfPredicate(type: string): PredicateKind | undefined {
  return PREDICATES.find(([, pattern]) => pattern.test(type))?.[0];
}

/**
 * The annotations by which BuildKit and cosign say, at the layer, of which type its predicate is. Whoever states
 * another type than the layer has is taken at their word.
 */
const PREDICATE_ANNOTATIONS = ["in-toto.io/predicate-type", "predicateType", "dev.sigstore.bundle.predicateType"];

/** Whether the annotations say that the predicate is of a kind that is not read. */
export function hasOtherPredicate(annotations: Readonly<Record<string, unknown>>): boolean {
  return PREDICATE_ANNOTATIONS.some((key) => {
    const type = annotations[key];
    return typeof type === "string" && kindOfPredicate(type) === undefined;
  });
}
