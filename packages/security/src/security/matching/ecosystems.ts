import { pypiName, releaseOf } from "@moorage/kernel/lib/purls";
import type { VersionOrder } from "@moorage/kernel/lib/versions";

/** A distribution that publishes what is fixed in which of its packages. */
export interface Distribution {
  /** What keys begin with. */
  name: string;
  purlType: "deb" | "apk" | "rpm";
  /** Namespaces of its purls, in the form of namespaceOf. */
  namespaces: readonly string[];
  /** What the release is called in keys, by VERSION_ID of os-release; undefined when records have no such release. */
  releaseOf: (versionId: string) => string | undefined;
}

/** By ID of os-release. */
export const DISTRIBUTIONS: ReadonlyMap<string, Distribution> = new Map(
  (
    [
      ["debian", "debian", "deb", ["debian"]],
      ["ubuntu", "ubuntu", "deb", ["ubuntu"]],
      ["alpine", "alpine", "apk", ["alpine"]],
      ["wolfi", "wolfi", "apk", ["wolfi"]],
      ["chainguard", "chainguard", "apk", ["chainguard", "wolfi"]],
      ["rhel", "redhat", "rpm", ["redhat"]],
      ["rocky", "rocky", "rpm", ["rocky"]],
      ["almalinux", "alma", "rpm", ["almalinux"]],
    ] as const
  ).map(([id, name, purlType, namespaces]): [string, Distribution] => [
    id,
    { name, purlType, namespaces, releaseOf: (version) => releaseOf({ id, version }) },
  ]),
);

/** A language's registry of packages. */
export interface Registry {
  /** What keys begin with. */
  name: string;
  order: VersionOrder;
  normalize: (name: string) => string;
}

const asWritten = (name: string): string => name;
const inLowerCase = (name: string): string => name.toLowerCase();
// Names of SwiftURL are the addresses of repositories, of which purls have neither the scheme nor the ending.
const repositoryName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/\.git$/, "");
// Of npm, names that differ in case alone are two packages: some old ones have upper-case letters. Purls have Go's
// paths in lower case. Names of pub have underscores only, which purls write for hyphens.
const REGISTRIES: readonly (readonly [ecosystem: string, purlType: string, registry: Registry])[] = [
  ["npm", "npm", { name: "npm", order: "semver", normalize: asWritten }],
  ["PyPI", "pypi", { name: "pypi", order: "pypi", normalize: pypiName }],
  ["Maven", "maven", { name: "maven", order: "maven", normalize: asWritten }],
  ["Go", "golang", { name: "go", order: "semver", normalize: inLowerCase }],
  ["crates.io", "cargo", { name: "cargo", order: "semver", normalize: asWritten }],
  ["Packagist", "composer", { name: "packagist", order: "composer", normalize: inLowerCase }],
  ["RubyGems", "gem", { name: "rubygems", order: "rubygems", normalize: asWritten }],
  ["NuGet", "nuget", { name: "nuget", order: "nuget", normalize: inLowerCase }],
  ["Hex", "hex", { name: "hex", order: "semver", normalize: inLowerCase }],
  ["CRAN", "cran", { name: "cran", order: "cran", normalize: asWritten }],
  ["Pub", "pub", { name: "pub", order: "pub", normalize: (name) => name.toLowerCase().replaceAll("-", "_") }],
  ["SwiftURL", "swift", { name: "swift", order: "semver", normalize: repositoryName }],
];

export const REGISTRY_BY_ECOSYSTEM: ReadonlyMap<string, Registry> = new Map(
  REGISTRIES.map(([ecosystem, , registry]) => [ecosystem, registry]),
);
export const REGISTRY_BY_PURL_TYPE: ReadonlyMap<string, Registry> = new Map(
  REGISTRIES.map(([, purlType, registry]) => [purlType, registry]),
);

const ORDER_OF_PURL_TYPE = { deb: "dpkg", apk: "apk", rpm: "rpm" } as const satisfies Record<string, VersionOrder>;

/** The orders of versions, by what keys begin with. */
export const ORDERS: ReadonlyMap<string, VersionOrder> = new Map<string, VersionOrder>([
  ...REGISTRIES.map(([, , { name, order }]) => [name, order] as const),
  ...[...DISTRIBUTIONS.values()].map(({ name, purlType }) => [name, ORDER_OF_PURL_TYPE[purlType]] as const),
  ["ubuntu-pro", "dpkg"],
]);
