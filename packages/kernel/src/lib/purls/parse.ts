import type { Purl } from "./purl.ts";
import { fullName, namedByType } from "./types.ts";

/** A text that is not a package URL. The message says why, for people. */
export class PurlError extends Error {}

/** The longest text that is read, in characters: the longest that tools write have some hundreds. */
const MAX_CHARS = 4_096;
const TYPE = /^[a-z][a-z0-9.+-]*$/;
const KEY = /^[a-z][a-z0-9._-]*$/;

/**
 * Reads a package URL. More is taken than the specification lets tools write: an `@` or a `/` of a name that is not
 * encoded or is, any case of the scheme, parts that a type requires and that are missing. Throws PurlError. Source:
 * package-url, "How to parse a purl string to its components".
 */
export function readPurl(text: string): Purl {
  return namedByType(partsOf(text));
}

/** The parts as they stand in the text. */
function partsOf(text: string): Purl {
  const given = text.trim();
  if (given.length > MAX_CHARS) throw new PurlError(`has more than ${MAX_CHARS} characters`);
  if (given.slice(0, 4).toLowerCase() !== "pkg:") throw new PurlError("does not begin with pkg:");
  const [rest, fragment] = cut(given.slice(4), given.indexOf("#") - 4);
  const [path, query] = cut(rest, rest.indexOf("?"));
  const [rawType = "", ...segments] = path.split("/").filter((segment) => segment !== "");
  const type = rawType.toLowerCase();
  if (!TYPE.test(type)) throw new PurlError("has no type");
  const inType = segments.join("/");
  const [named, version] = cut(inType, versionAt(inType));
  const names = decoded(named)
    .split("/")
    .filter((segment) => segment !== "");
  const name = names.pop()?.trim() ?? "";
  if (name === "") throw new PurlError("has no name");
  return {
    type,
    namespace: names.join("/"),
    name,
    version: decoded(version).trim(),
    qualifiers: qualifiersIn(query),
    subpath: decoded(fragment)
      .split("/")
      .filter((segment) => segment !== "" && segment !== "." && segment !== "..")
      .join("/"),
  };
}

/**
 * The name that the package URL has with its namespace. Of npm as it stands there: package URLs have it in lower case,
 * and some old packages do not. Throws PurlError.
 */
export function fullNameIn(text: string): string {
  const parts = partsOf(text);
  return fullName(parts.type === "npm" ? parts : namedByType(parts));
}

/** Whether the text says that it is a package URL, which it may be or not. */
export const isPurl = (text: string): boolean => /^\s*pkg:/i.test(text.slice(0, 100));

/** The package URL; undefined for what is not one. */
export function parsedPurl(text: string): Purl | undefined {
  try {
    return readPurl(text);
  } catch (error) {
    if (!(error instanceof PurlError)) throw error;
    return undefined;
  }
}

/** Where the `@` before the version is; that of a scope begins a part of the path. Negative for none. */
function versionAt(path: string): number {
  const at = path.lastIndexOf("@");
  return at === 0 || path[at - 1] === "/" ? -1 : at;
}

/** What is before the place and behind the character there; all of it when the place is negative. */
function cut(text: string, at: number): [before: string, behind: string] {
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function qualifiersIn(query: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const pair of query.split("&")) {
    const [rawKey, rawValue] = cut(pair, pair.indexOf("="));
    const key = rawKey.trim().toLowerCase();
    // A plus is a plus: package URLs are not forms.
    const value = decoded(rawValue).trim();
    if (value !== "" && KEY.test(key)) found.set(key, value);
  }
  return found;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PurlError("is not valid percent-encoding");
  }
}
