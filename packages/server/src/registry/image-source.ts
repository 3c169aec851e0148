/** The repository of another registry that images are copied from. */
export interface ImageSource {
  /** Scheme, host and port, without a trailing slash. */
  origin: string;
  /** The image's name in that registry. */
  name: string;
}

const FORM =
  /^(?:(https?):\/\/)?([a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(:\d{1,5})?\/([a-z0-9._/-]+)$/;
// Source: OCI distribution specification v1.1, "Pulling manifests".
const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const MAX_NAME_LENGTH = 255;

/**
 * Parses `host[:port]/name`, optionally with a scheme in front; it defaults to https. Undefined for any other text,
 * also for one with a tag or digest.
 */
export function parseImageSource(text: string): ImageSource | undefined {
  const [, scheme = "https", host = "", port = "", name = ""] = FORM.exec(text) ?? [];
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) return undefined;
  const url = URL.parse(`${scheme}://${host}${port}`);
  return url === null ? undefined : { origin: url.origin, name };
}
