/** What packages of a kind are called elsewhere. */
export interface PackageKind {
  /** The type of their purls. */
  purlType: string;
  /** The ecosystem of OSV in which a package has one name everywhere; undefined where there is none. */
  ecosystem?: string;
}

const KINDS: readonly (readonly [kinds: string, purlType: string, ecosystem?: string])[] = [
  ["apk", "apk"],
  ["deb", "deb"],
  ["rpm", "rpm"],
  ["npm", "npm", "npm"],
  ["pypi python", "pypi", "PyPI"],
  ["maven java java-archive", "maven", "Maven"],
  ["go go-module golang", "golang", "Go"],
  ["cargo rust rust-crate crates.io", "cargo", "crates.io"],
  ["composer php php-composer packagist", "composer", "Packagist"],
  ["gem ruby rubygems", "gem", "RubyGems"],
  ["nuget dotnet", "nuget", "NuGet"],
  ["hex erlang elixir", "hex", "Hex"],
  ["cran r r-package", "cran", "CRAN"],
  ["pub dart dart-pub", "pub", "Pub"],
  ["swift swifturl", "swift", "SwiftURL"],
  ["conda", "conda"],
];

/** By kinds of artifacts and components of advisories, in lower case. */
const BY_KIND: ReadonlyMap<string, PackageKind> = new Map(
  KINDS.flatMap(([kinds, purlType, ecosystem]) =>
    kinds
      .split(" ")
      .map((kind): [string, PackageKind] => [kind, { purlType, ...(ecosystem !== undefined && { ecosystem }) }]),
  ),
);

/** What the packages of a kind, in upper or lower case, are called elsewhere. Undefined for another kind. */
export function packageKind(kind: string): PackageKind | undefined {
  return BY_KIND.get(kind.toLowerCase());
}
