import type { VersionOrder } from "../../lib/versions/index.ts";

/** A distribution that publishes what is fixed in which of its packages. */
export interface Distribution {
  /** What keys begin with. */
  name: string;
  purlType: "deb" | "apk" | "rpm";
  /** Namespaces that purls of its packages have. */
  namespaces: readonly string[];
  /** What the release is called in keys, by VERSION_ID of os-release; undefined when records have no such release. */
  releaseOf: (versionId: string) => string | undefined;
}

const exactly =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.exec(text)?.[1];
const major = exactly(/^([0-9]+)(?:\.[0-9]+)*$/);
const rolling = (): string => "";

/** By ID of os-release. */
export const DISTRIBUTIONS: ReadonlyMap<string, Distribution> = new Map([
  ["debian", { name: "debian", purlType: "deb", namespaces: ["debian"], releaseOf: major }],
  ["ubuntu", { name: "ubuntu", purlType: "deb", namespaces: ["ubuntu"], releaseOf: exactly(/^([0-9]+\.[0-9]+)$/) }],
  [
    "alpine",
    {
      name: "alpine",
      purlType: "apk",
      namespaces: ["alpine"],
      releaseOf: exactly(/^v?([0-9]+\.[0-9]+)(?:\.[0-9]+)?$/),
    },
  ],
  ["wolfi", { name: "wolfi", purlType: "apk", namespaces: ["wolfi"], releaseOf: rolling }],
  ["chainguard", { name: "chainguard", purlType: "apk", namespaces: ["chainguard", "wolfi"], releaseOf: rolling }],
  ["rhel", { name: "redhat", purlType: "rpm", namespaces: ["redhat", "rhel"], releaseOf: major }],
  ["rocky", { name: "rocky", purlType: "rpm", namespaces: ["rocky", "rocky-linux"], releaseOf: major }],
  ["almalinux", { name: "alma", purlType: "rpm", namespaces: ["almalinux", "alma"], releaseOf: major }],
] satisfies [string, Distribution][]);

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
// PEP 503. Purls have Go's paths in lower case. Names of pub have underscores only, which purls write for hyphens.
const REGISTRIES: readonly (readonly [ecosystem: string, purlType: string, registry: Registry])[] = [
  ["npm", "npm", { name: "npm", order: "semver", normalize: asWritten }],
  ["PyPI", "pypi", { name: "pypi", order: "pypi", normalize: (name) => name.toLowerCase().replaceAll(/[-_.]+/g, "-") }],
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
