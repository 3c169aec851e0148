/** Tags by which cosign and others attach something to a digest: `sha256-<hex>`, with `.sig`, `.att` or `.sbom`. */
const ATTACHED = /^sha256-[0-9a-f]{64}(?:\.[a-z]+)?$/;

/** Whether a tag names what is attached to an image, such as its signature, and no image. */
export function isAttachedTag(name: string): boolean {
  return ATTACHED.test(name);
}

/** The first tag that names an image; the first one where none does. */
export function imageTagOf<T extends { name: string }>(tags: readonly T[]): T | undefined {
  return tags.find(({ name }) => !isAttachedTag(name)) ?? tags[0];
}
