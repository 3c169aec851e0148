import { invalidArgument } from "@moorage/kernel/errors";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";

/** An image as a person names it: `acme/team/app`, with `:tag`, `@digest` or `:tag@time`. */
export interface ImageName {
  /** The path of the repo, as `acme/team/app`. */
  path: string;
  /** Empty when none is named. */
  tag: string;
  /** Empty when none is named. */
  digest: string;
  /** The tag as it was then, as ISO 8601; empty for now. */
  time: string;
}

const MAX_CHARS = 1024;
const COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const NAME = new RegExp(`^(${COMPONENT}(?:/${COMPONENT})+)(?::([a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}))?(?:@(.+))?$`);
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;
const FORMS =
  "must be an image such as acme/team/app:1.2, acme/team/app@sha256:… or acme/team/app:1.2@2026-01-31T12:00Z";

/**
 * Reads the name of an image; the host of this registry may stand before it. Throws INVALID_ARGUMENT on the field.
 */
export function parseImageName(field: string, text: string, registryHost: string): ImageName {
  const name = text.startsWith(`${registryHost}/`) ? text.slice(registryHost.length + 1) : text;
  const [, path, tag = "", rest = ""] = (name.length <= MAX_CHARS && NAME.exec(name)) || [];
  if (path === undefined) throw invalidArgument({ field, description: FORMS });
  if (rest === "" || DIGEST.test(rest)) return { path, tag: rest === "" ? tag : "", digest: rest, time: "" };
  if (tag === "" || parseIso8601(rest) === undefined) throw invalidArgument({ field, description: FORMS });
  return { path, tag, digest: "", time: rest };
}

/** The time in milliseconds since 1970; a date means the end of its day. Throws INVALID_ARGUMENT on the field. */
export function parseTime(field: string, text: string): number {
  const moment = parseIso8601(text);
  if (moment === undefined)
    throw invalidArgument({
      field,
      description: "must be an ISO 8601 time, such as 2026-01-31 or 2026-01-31T12:00:00Z",
    });
  return moment.lastMs;
}

/** The names of an image without which a tool cannot do its work. Throws INVALID_ARGUMENT on the field. */
export function requireTag(field: string, { tag }: ImageName): string {
  if (tag === "") throw invalidArgument({ field, description: "must name a tag, as acme/team/app:1.2" });
  return tag;
}
