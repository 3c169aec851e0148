import {
  isOfDistribution,
  isSourcePurl,
  namedPurl,
  namespaceOf,
  normalPurl,
  parsedPurl,
  writePurl,
} from "@moorage/kernel/lib/purls";
import type { FoundPackage, OsRelease } from "./types.ts";

/** Longer names and versions are no packages that anybody knows; they are left out. */
const MAX_PART = 512;

/** The normalized purl of a package; undefined when what was found cannot be one. */
export function purlOf(found: FoundPackage, os: OsRelease | undefined): string | undefined {
  const { type, name, version, architecture, epoch } = found;
  if (name === "" || name.length > MAX_PART || version.length > MAX_PART) return undefined;
  const namespace = isOfDistribution(type) ? distributionNamespace(type, os) : (found.namespace ?? "");
  // An artifact without its group may be anybody's.
  if (type === "maven" && namespace === "") return undefined;
  const stated = Object.entries({ arch: architecture, epoch }).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value]],
  );
  const purl = namedPurl({ type, namespace, name, version, qualifiers: new Map(stated) });
  const release = os === undefined || os.id === "" ? undefined : { id: os.id, version: os.versionId };
  try {
    return normalPurl(purl, release).purl;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

// What purls of source packages have as their architecture. Source: purl-spec, deb and rpm definitions. A package of
// Alpine is built from another one of the same architecture.
const SOURCE_ARCHITECTURES: Readonly<Record<string, string>> = { deb: "source", rpm: "src" };

/**
 * The purl of the source package that a package of a distribution was built from; undefined for other packages, which
 * have none.
 */
export function sourcePurlOf(purl: string, source: { name: string; version: string }): string | undefined {
  const built = parsedPurl(purl);
  if (built === undefined || !isOfDistribution(built.type) || source.name === "") return undefined;
  if (isSourcePurl(built)) return purl;
  const { type, namespace, qualifiers } = built;
  // The version of an rpm's source has no epoch.
  const kept = { arch: SOURCE_ARCHITECTURES[type] ?? qualifiers.get("arch"), distro: qualifiers.get("distro") };
  return writePurl({ type, namespace, ...source, qualifiers: kept });
}

function distributionNamespace(type: "deb" | "apk" | "rpm", os: OsRelease | undefined): string {
  const usual = type === "deb" ? "debian" : type === "apk" ? "alpine" : "";
  return namespaceOf(os?.id ?? "") || usual;
}
