import type { DigestAlgorithm } from "@moorage/kernel/blobs";

// The grammars of the OCI distribution specification v1.1, "Pulling manifests", and of the image specification,
// "Digests".
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 255;

/** Whether this is a digest of a supported algorithm: sha256 or sha512, lower-case hex of the right length. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** The algorithm of a valid digest. */
export function algorithmOf(digest: string): DigestAlgorithm {
  return digest.startsWith("sha512:") ? "sha512" : "sha256";
}

export function isTag(text: string): boolean {
  return TAG.test(text);
}

/**
 * Whether this can be one segment of an image path. Groups and repos with other names cannot be reached through the
 * registry.
 */
function isNameComponent(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && COMPONENT.test(text);
}

/** Whether this is a repository name: components joined by `/`, at most 255 characters. */
export function isRepositoryName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && text.split("/").every(isNameComponent);
}
