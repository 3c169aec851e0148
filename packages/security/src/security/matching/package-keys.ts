import { goVersion, namespaceOf, parsedPurl, versionNamed } from "@moorage/kernel/lib/purls";
import type { VersionOrder } from "@moorage/kernel/lib/versions";
import {
  type Distribution,
  DISTRIBUTIONS,
  ORDERS,
  REGISTRY_BY_ECOSYSTEM,
  REGISTRY_BY_PURL_TYPE,
} from "./ecosystems.ts";

/** A package as a record names it: `affected[].package` of OSV. */
export interface RecordPackage {
  ecosystem: string;
  name: string;
  purl?: string | undefined;
}

/** A package that is in an image. */
export interface ImageComponent {
  /** The parts of its purl, decoded. */
  type: string;
  namespace?: string | undefined;
  name: string;
  version: string;
  /** The package that it was built from: the source of a deb or RPM, the origin of an apk. Empty when it has none. */
  sourceName?: string | undefined;
  /** Where it differs from its own; empty otherwise. */
  sourceVersion?: string | undefined;
  /** ID and VERSION_ID of the image's os-release. */
  distribution?: { id: string; version: string } | undefined;
}

/** What to look up for a component: records under the key are compared with the version. */
export interface PackageLookup {
  key: string;
  version: string;
}

/**
 * The text under which a record's package and the components of images meet: `pypi/requests`, `npm/@scope/name`,
 * `maven/group:artifact`, `debian:12/openssl`, `wolfi/openssl`. Undefined where nothing is matched: an ecosystem that
 * is not served, a distribution without a release. Where the ecosystem is empty, as in VEX, the purl of a language's
 * package is read.
 */
export function packageKey({ ecosystem, name, purl }: RecordPackage): string | undefined {
  if (ecosystem === "") return purl === undefined ? undefined : keyOfPurl(purl);
  if (name === "") return undefined;
  const registry = REGISTRY_BY_ECOSYSTEM.get(ecosystem);
  if (registry !== undefined) return `${registry.name}/${registry.normalize(name)}`;
  const distribution = distributionOf(ecosystem);
  return distribution === undefined ? undefined : `${distribution}/${name}`;
}

/** The order of the versions of the packages under a key. Undefined for what is no key of `packageKey`. */
export function versionOrder(key: string): VersionOrder | undefined {
  return ORDERS.get(/^[^:/]*/.exec(key)?.[0] ?? "");
}

/**
 * What to look up for a component; empty where nothing is known by name alone: a package of a distribution without the
 * distribution's release, or whose purl names another distribution.
 *
 * Of debs and apks the source package counts. Records of RPMs name packages that were built, or their source, so both
 * are looked up.
 */
export function lookupsOf(component: ImageComponent): PackageLookup[] {
  const { type, namespace = "", name, version } = component;
  const registry = REGISTRY_BY_PURL_TYPE.get(type);
  if (registry !== undefined) {
    const full = namespace === "" ? name : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
    return [
      {
        key: `${registry.name}/${registry.normalize(full)}`,
        version: type === "golang" ? goVersion(version) : version,
      },
    ];
  }
  const found = DISTRIBUTIONS.get(component.distribution?.id ?? "");
  if (found === undefined || found.purlType !== type) return [];
  if (namespace !== "" && !found.namespaces.includes(namespaceOf(namespace))) return [];
  const release = found.releaseOf(component.distribution?.version ?? "");
  if (release === undefined) return [];
  const source = { name: component.sourceName || name, version: sourceVersionOf(component) };
  const packages = type === "rpm" && source.name !== name ? [source, { name, version }] : [source];
  return packages.flatMap((each) =>
    spacesOf(found, release, each.version).map((space) => ({ key: `${space}/${each.name}`, version: each.version })),
  );
}

/** An RPM's source is named by its file, which does not have the epoch. */
function sourceVersionOf({ type, version, sourceVersion: given }: ImageComponent): string {
  const sourceVersion = given || version;
  const epoch = type === "rpm" && !sourceVersion.includes(":") ? /^[0-9]+:/.exec(version)?.[0] : undefined;
  return `${epoch ?? ""}${sourceVersion}`;
}

function spacesOf({ name }: Distribution, release: string, version: string): string[] {
  const space = spaceOf(name, release);
  if (name !== "ubuntu") return [space];
  const pro = spaceOf("ubuntu-pro", release);
  return version.includes("esm") ? [pro] : [space, pro];
}

function spaceOf(name: string, release: string): string {
  return release === "" ? name : `${name}:${release}`;
}

const OSV_DISTRIBUTIONS: readonly (readonly [name: string, ecosystem: RegExp])[] = [
  ["debian", /^Debian:([0-9]+|[a-z]+)$/],
  ["ubuntu", /^Ubuntu:([0-9]+\.[0-9]+)(?::LTS)?$/],
  ["ubuntu-pro", /^Ubuntu:Pro:([0-9]+\.[0-9]+)(?::LTS)?$/],
  ["alpine", /^Alpine:v([0-9]+\.[0-9]+)$/],
  ["redhat", /^Red Hat:enterprise_linux:([0-9]+)(?:\.[0-9]+)?(?:::[a-z_]+)?$/],
  ["rocky", /^Rocky Linux:([0-9]+)(?:\.[0-9]+)?$/],
  ["alma", /^AlmaLinux:([0-9]+)(?:\.[0-9]+)?$/],
  ["wolfi", /^Wolfi$/],
  ["chainguard", /^Chainguard$/],
];

/** The beginning of the keys of an OSV ecosystem that is a distribution and its release. */
function distributionOf(ecosystem: string): string | undefined {
  for (const [name, pattern] of OSV_DISTRIBUTIONS) {
    const found = pattern.exec(ecosystem);
    if (found === null) continue;
    const release = found[1] ?? "";
    if (!/^[a-z]/.test(release)) return spaceOf(name, release);
    // Debian's tracker names releases by their code names.
    const number = versionNamed(name, release);
    return number === undefined ? undefined : spaceOf(name, number);
  }
  return undefined;
}

function keyOfPurl(text: string): string | undefined {
  const purl = parsedPurl(text);
  if (purl === undefined || !REGISTRY_BY_PURL_TYPE.has(purl.type)) return undefined;
  return lookupsOf({ ...purl, version: "" })[0]?.key;
}
