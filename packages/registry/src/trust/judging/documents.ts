import { isImageType } from "@moorage/kernel/core/media-types";
import { isObject } from "@moorage/kernel/lib/json";
import { DSSE, isBundle, isNotation, SIMPLE_SIGNING } from "../attached/formats.ts";

/** A manifest as it is stored. */
export interface ManifestContent {
  mediaType: string;
  content: Uint8Array;
}

/** Statements of in-toto, SBOMs and VEX documents: no runtime of containers unpacks any of them. */
const DOCUMENTS: ReadonlySet<string> = new Set([
  "application/vnd.in-toto+json",
  "application/vnd.in-toto+jsonl",
  "application/vnd.in-toto.bundle",
  "application/vnd.in-toto.provenance+json",
  "application/spdx+json",
  "application/vnd.spdx+json",
  "application/vnd.syft+json",
  "application/vnd.cyclonedx",
  "application/vnd.cyclonedx+json",
  "application/vnd.cyclonedx+xml",
  "application/vnd.cyclonedx.vex+json",
  "application/openvex+json",
  "application/vnd.openvex",
  "application/vnd.openvex+json",
  "application/csaf+json",
  "application/vnd.csaf+json",
  "text/spdx",
  "text/spdx+json",
  "text/spdx+xml",
]);

/**
 * Whether all that the manifest holds are signatures, attestations, SBOMs or VEX documents, by the types of its layers:
 * a policy never blocks these, so that images can be signed and verified. A `subject` or an artifact type alone
 * exempts nothing, since an image may have either.
 */
export function isDocument({ mediaType, content }: ManifestContent): boolean {
  if (!isImageType(mediaType)) return false;
  const { layers } = JSON.parse(Buffer.from(content).toString()) as { layers?: unknown };
  return Array.isArray(layers) && layers.length > 0 && layers.every(isDocumentLayer);
}

function isDocumentLayer(layer: unknown): boolean {
  const type = isObject(layer) ? layer["mediaType"] : undefined;
  if (typeof type !== "string") return false;
  return type === SIMPLE_SIGNING || type === DSSE || isBundle(type) || isNotation(type) || DOCUMENTS.has(type);
}
