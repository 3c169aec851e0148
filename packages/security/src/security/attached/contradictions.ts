import { parsedPurl, purlKey } from "@moorage/kernel/lib/purls";

/** A source that names a package in other versions than those who name this one. */
export interface Contradiction {
  /** See PackageSource. */
  source: string;
  /** The versions that it names, at most MAX_VERSIONS. */
  versions: string[];
}

const MAX_VERSIONS = 20;

/** What a source says that an image holds. */
export interface NamedPackage {
  purl: string;
  version: string;
  source: string;
}

/**
 * The versions in which each source names the packages of one image. Sources contradict each other where each names a
 * package in a version that the other does not name. That a source does not name a package at all is none: it says
 * nothing about it.
 */
export class NamedVersions {
  readonly #versions = new Map<string, Map<string, Set<string>>>();

  add({ purl, version, source }: NamedPackage): void {
    const key = keyOf(purl);
    const named = this.#versions.get(key) ?? new Map<string, Set<string>>();
    this.#versions.set(key, named);
    named.set(source, (named.get(source) ?? new Set()).add(version));
  }

  /** Who contradicts the sources that name the package in this version, in the order in which they were added. */
  contradictionsOf(purl: string, sources: readonly string[]): Contradiction[] {
    const named = this.#versions.size === 0 ? undefined : this.#versions.get(keyOf(purl));
    if (named === undefined || named.size < 2) return [];
    return [...named].flatMap(([source, versions]) => {
      if (sources.includes(source)) return [];
      const others = [...versions].filter((version) => sources.some((each) => !named.get(each)?.has(version)));
      return others.length === 0 ? [] : [{ source, versions: others.slice(0, MAX_VERSIONS) }];
    });
  }
}

/** What the purls of all versions of a package have in common. */
function keyOf(text: string): string {
  const purl = parsedPurl(text);
  return purl === undefined ? text : purlKey(purl);
}
