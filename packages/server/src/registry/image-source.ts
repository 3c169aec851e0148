/** Where an image is copied from. */
export interface ImageSource {
  /** Scheme, host and port, without a slash at the end. */
  origin: string;
  /** The image's name in that registry. */
  name: string;
}

const FORM =
  /^(?:(https?):\/\/)?([a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(:\d{1,5})?\/([a-z0-9._/-]+)$/;
// As the OCI distribution specification v1.1 has it.
const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const MAX_NAME_LENGTH = 255;

/**
 * Reads `host[:port]/name`, which is reached by https unless `http://` stands before it. Undefined: it is none, or has
 * a tag or digest.
 */
export function parseImageSource(text: string): ImageSource | undefined {
  const [, scheme = "https", host = "", port = "", name = ""] = FORM.exec(text) ?? [];
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) return undefined;
  const url = URL.parse(`${scheme}://${host}${port}`);
  return url === null ? undefined : { origin: url.origin, name };
}
