/**
 * The repo of an image's name, and the reference in it: a tag, a digest, or a tag as of a time. Without one it is the
 * tag latest.
 */
export function splitReference(name: string): { repo: string; reference: string } {
  const [, repo = name, tag, digest] = /^([^:@]+)(?::(.+))?(?:@(.+))?$/.exec(name) ?? [];
  return { repo, reference: tag ?? digest ?? "latest" };
}
