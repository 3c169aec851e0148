import { PackageURL } from "packageurl-js";
import type { FoundPackage, OsRelease } from "./types.ts";

/** Longer names and versions are no packages that anybody knows; they are left out. */
const MAX_PART = 512;

/** Vendors whose purl namespace is not the ID of their os-release. Source: purl-spec, rpm definition. */
const RPM_NAMESPACES: Readonly<Record<string, string>> = { rhel: "redhat", "opensuse-leap": "opensuse", sles: "suse" };

/** The normalized purl of a package; undefined when what was found cannot be one. */
export function purlOf(found: FoundPackage, os: OsRelease | undefined): string | undefined {
  const { type, name, version } = found;
  if (name === "" || name.length > MAX_PART || version.length > MAX_PART) return undefined;
  try {
    const { namespace, qualifiers } = isOfDistribution(type)
      ? ofDistribution(found, os)
      : { namespace: found.namespace, qualifiers: undefined };
    return new PackageURL(type, namespace, type === "pypi" ? canonical(name) : name, version, qualifiers).toString();
  } catch {
    return undefined;
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
  try {
    const { type, namespace, qualifiers } = PackageURL.fromString(purl);
    if (!isOfDistribution(type)) return undefined;
    const arch = SOURCE_ARCHITECTURES[type] ?? qualifiers?.["arch"];
    const distro = qualifiers?.["distro"];
    // The version of an rpm's source has no epoch.
    const kept = { ...(arch !== undefined && { arch }), ...(distro !== undefined && { distro }) };
    return new PackageURL(type, namespace, source.name, source.version, kept).toString();
  } catch {
    return undefined;
  }
}

interface PurlParts {
  namespace: string | undefined;
  qualifiers: Record<string, string> | undefined;
}

function isOfDistribution(type: string): type is "deb" | "apk" | "rpm" {
  return type === "deb" || type === "apk" || type === "rpm";
}

function ofDistribution({ type, architecture, epoch }: FoundPackage, os: OsRelease | undefined): PurlParts {
  const id = os?.id ?? "";
  const usual = type === "deb" ? "debian" : type === "apk" ? "alpine" : undefined;
  const namespace = (type === "rpm" ? (RPM_NAMESPACES[id] ?? id) : id) || usual;
  const distro = os === undefined || id === "" ? undefined : [id, os.versionId].filter((part) => part !== "").join("-");
  const qualifiers = Object.entries({ arch: architecture, distro, epoch });
  return {
    namespace,
    qualifiers: Object.fromEntries(qualifiers.filter((pair): pair is [string, string] => Boolean(pair[1]))),
  };
}

/** PyPI compares names with one hyphen for each run of `-`, `_` and `.`. Source: PEP 503. */
function canonical(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}
