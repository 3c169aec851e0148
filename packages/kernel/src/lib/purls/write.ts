import type { Purl } from "./purl.ts";

/** The parts of a package URL that is to be written. */
export type PurlParts = Pick<Purl, "type" | "name"> & {
  namespace?: string | undefined;
  version?: string | undefined;
  /** Those without a value are left out. */
  qualifiers?: Readonly<Record<string, string | undefined>> | undefined;
};

/**
 * The package URL of the parts: qualifiers in the order of their keys, and in the version everything encoded but the
 * colon, so that a plus is `%2B`. Throws a URIError for half a character. Source: package-url, "How to build a purl
 * string from its components".
 */
export function writePurl({ type, namespace, name, version, qualifiers }: PurlParts): string {
  const path = namespace ? namespace.split("/").map((segment) => withColons(encodeURIComponent(segment))) : [];
  const written = `pkg:${type}/${[...path, encodeURIComponent(name)].join("/")}`;
  const pairs = Object.entries(qualifiers ?? {})
    .flatMap(([key, value]) => (value ? [`${key}=${encodeURIComponent(value)}`] : []))
    .sort();
  const at = version ? `@${withColons(encodeURIComponent(version))}` : "";
  return `${written}${at}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`;
}

function withColons(encoded: string): string {
  return encoded.replaceAll("%3A", ":");
}

/** A written package URL without version, qualifiers and subpath: that of all versions of its package. */
export function purlWithoutVersion(purl: string): string {
  const [path = ""] = purl.split(/[?#]/, 1);
  const at = path.lastIndexOf("@");
  return at < 0 || path[at - 1] === "/" ? path : path.slice(0, at);
}

/**
 * The package URL as it was stored before a plus in its version was encoded. The ids of stored packages, and what was
 * noted of their findings, are made of this.
 */
export function withBarePlus(purl: string): string {
  const at = purl.indexOf("@");
  const end = purl.indexOf("?", at);
  if (at < 0) return purl;
  const version = purl.slice(at, end < 0 ? undefined : end);
  return `${purl.slice(0, at)}${version.replaceAll("%2B", "+")}${end < 0 ? "" : purl.slice(end)}`;
}
