/** A package as all programs can be asked for it. */
export interface Named {
  /** As OSV spells it, without a release; `distribution` for packages of one in lists with their sources. */
  ecosystem: string;
  name: string;
  version: string;
  /** `name@version` of the source package. */
  source?: string;
}

/** Types of purls by the ecosystem of OSV. */
export const ECOSYSTEMS: Readonly<Record<string, string>> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  golang: "Go",
  cargo: "crates.io",
  composer: "Packagist",
  gem: "RubyGems",
  nuget: "NuGet",
  hex: "Hex",
  cran: "CRAN",
};

/** What a purl names, as its text has it: not by the module that is compared. */
export function named(purl: string): Named {
  const [, type = "", path = "", version = ""] = /^pkg:([^/]+)\/([^@?#]+)(?:@([^?#]*))?/.exec(purl) ?? [];
  const name = decodeURIComponent(type === "maven" ? path.replace("/", ":") : path);
  // OSV has versions of Go without their v, which no purl of a module is without.
  const own = type === "golang" ? decodeURIComponent(version).replace(/^v/, "") : decodeURIComponent(version);
  return { ecosystem: ECOSYSTEMS[type] ?? type, name, version: own };
}

/** A line that is the same for the same package. */
export function lineOf({ ecosystem, name, version, source = "" }: Named): string {
  return [ecosystem, name, version, source].filter((part) => part !== "").join(" ");
}
