import { isUid } from "@moorage/kernel/lib/uid";

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
 * Parses `host[:port]/name`, optionally with a scheme in front; it defaults to https. Without a scheme the host has a
 * dot or a port, or is `localhost`. Undefined for any other text, also for one with a tag or digest.
 */
export function parseImageSource(text: string): ImageSource | undefined {
  const [, given, host = "", port = "", name = ""] = FORM.exec(text) ?? [];
  const scheme = given ?? "https";
  if (given === undefined && !isHost(host + port)) return undefined;
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) return undefined;
  const url = URL.parse(`${scheme}://${host}${port}`);
  return url === null ? undefined : { origin: url.origin, name };
}

/**
 * The source when it is of this installation: the uid of a repo, or the path of an image, whose first part is no host.
 * Undefined for any other text.
 */
export function parseLocalSource(text: string): string | undefined {
  if (isUid(text)) return text.includes("/") ? text : undefined;
  const cut = text.indexOf("/");
  const isPath = cut > 0 && !isHost(text.slice(0, cut)) && NAME.test(text) && text.length <= MAX_NAME_LENGTH;
  return isPath ? text : undefined;
}

/** Whether container clients take the first part of a path for a registry. */
function isHost(part: string): boolean {
  return part === "localhost" || /[.:]/.test(part);
}
