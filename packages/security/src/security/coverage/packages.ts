import type { Database } from "@moorage/kernel/store";
import { doesCover, recordsAbout } from "../feeds/covers.ts";
import type { ComparedFeed, FeedStates } from "./compared-feeds.ts";
import { factsOfImage } from "./package-facts.ts";
import { presetFor } from "./presets.ts";
import type { SpaceState } from "./spaces.ts";

/** Packages of an image that no feed covers. */
export interface UncoveredPackages {
  /** For people: `npm`, `debian 12`. */
  ecosystem: string;
  packages: number;
  /** The preset of feeds that would cover them; empty when none would. */
  preset: string;
  /** The feeds that have records about some of them, and do not cover them. */
  feeds: string[];
}

/** Packages of an image that feeds cover. */
interface CoveredPackages {
  /** For people, as above. */
  ecosystem: string;
  packages: number;
  feeds: SpaceFeed[];
}

/** A feed that covers a key space. */
interface SpaceFeed {
  feed: string;
  /** How many of its records are about it; undefined until an import has counted them. */
  records: number | undefined;
  /** When it was last read without an error, in milliseconds since 1970. */
  successMs: number;
}

/** The packages of an image, and what feeds there are for them. */
export interface PackageCoverage {
  packages: number;
  /** The most packages first. */
  uncovered: UncoveredPackages[];
  /** The most packages first. */
  covered: CoveredPackages[];
  /** How many have only records of feeds that were not compared with them yet. */
  waiting: number;
  /** How many have a version that is in no range; see uncomparedIn. */
  unreadable: number;
  /** The key spaces that they are in; see packageKey. */
  spaces: string[];
}

/** The packages of an ecosystem that an image holds. */
interface OfEcosystem {
  all: number;
  /** Those that are compared with records. */
  keyed: number;
  /** The key spaces of the first of these. */
  spaces: readonly string[];
  /** Those whose versions are in no range. */
  unreadable: number;
}

/**
 * How many of the packages that these sources say an image holds are of an ecosystem, and of a release of it, for which
 * a feed has records. A package that has no key is compared with nothing: its ecosystem is not known here, or its
 * release.
 */
export async function coverageOf(
  tx: Database,
  digest: string,
  sources: readonly string[],
  feedStates: FeedStates,
): Promise<PackageCoverage> {
  const found: PackageCoverage = { packages: 0, uncovered: [], covered: [], waiting: 0, unreadable: 0, spaces: [] };
  if (sources.length === 0) return found;
  const ecosystems = await ecosystemsIn(tx, digest, sources);
  const feeds = await feedStates.feeds();
  const states = new Map<string, SpaceState>();
  for (const space of new Set([...ecosystems.values()].flatMap(({ spaces }) => spaces))) states.set(space, await feedStates.stateOf(space));
  const add = (ecosystem: string, packages: number, preset: string, own: readonly string[]): void => {
    if (packages === 0) return;
    const partial = feeds.filter((feed) => own.some((space) => (recordsAbout(feed, space) ?? 0) > 0));
    found.uncovered.push({ ecosystem, packages, preset, feeds: partial.map(({ name }) => name) });
  };
  for (const [ecosystem, { all, keyed, unreadable, spaces: own }] of ecosystems) {
    found.packages += all;
    found.unreadable += unreadable;
    add(nameOfEcosystem(ecosystem), all - keyed, "", []);
    const known = own.map((space) => states.get(space));
    if (known.includes("compared"))
      found.covered.push({ ecosystem: nameOfEcosystem(ecosystem), packages: keyed, feeds: coveringOf(feeds, own) });
    else if (known.includes("waiting")) found.waiting += keyed;
    else add(nameOfEcosystem(ecosystem), keyed, presetFor(own[0] ?? ""), own);
  }
  found.spaces = [...states.keys()];
  const mostFirst = (a: { packages: number; ecosystem: string }, b: { packages: number; ecosystem: string }): number =>
    b.packages - a.packages || (a.ecosystem < b.ecosystem ? -1 : 1);
  found.uncovered.sort(mostFirst);
  found.covered.sort(mostFirst);
  return found;
}

/** The feeds that cover one of the key spaces, but those of which it is known that they have no record about it. */
function coveringOf(feeds: readonly ComparedFeed[], own: readonly string[]): SpaceFeed[] {
  return feeds.flatMap((feed) => {
    const covering = own.filter((space) => doesCover(feed, space));
    const counts = covering.map((space) => recordsAbout(feed, space));
    if (covering.length === 0 || counts.every((count) => count === 0)) return [];
    const records = counts.includes(undefined) ? undefined : Math.max(...counts.map((count) => count ?? 0));
    return [{ feed: feed.name, records, successMs: Number(feed.success_time) }];
  });
}

/** What the sources say that the image holds, by ecosystems. */
async function ecosystemsIn(
  tx: Database,
  digest: string,
  sources: readonly string[],
): Promise<Map<string, OfEcosystem>> {
  const found = new Map<string, OfEcosystem>();
  for await (const facts of factsOfImage(tx, digest, sources))
    for (const { ecosystem, spaces, unreadable } of facts.values()) {
      const before = found.get(ecosystem) ?? { all: 0, keyed: 0, unreadable: 0, spaces: [] };
      const isKeyed = spaces.length > 0;
      found.set(ecosystem, {
        all: before.all + 1,
        keyed: before.keyed + (isKeyed ? 1 : 0),
        unreadable: before.unreadable + (unreadable === undefined ? 0 : 1),
        spaces: before.keyed === 0 && isKeyed ? spaces : before.spaces,
      });
    }
  return found;
}

/** The name of an ecosystem as `packages` has it, for people: `deb/debian-12` is `debian 12`. */
export function nameOfEcosystem(ecosystem: string): string {
  const [type = "", release] = ecosystem.split("/", 2);
  if (release === undefined) return ["deb", "apk", "rpm"].includes(type) ? `${type} without a release` : type;
  const cut = release.lastIndexOf("-");
  return cut < 0 ? release : `${release.slice(0, cut)} ${release.slice(cut + 1)}`;
}

/** Says to people which packages no feed covers, and what would. Empty when all are covered. */
export function describeUncovered(uncovered: readonly UncoveredPackages[]): string {
  if (uncovered.length === 0) return "";
  const parts = uncovered.slice(0, MAX_NAMED).map(({ ecosystem, packages, preset, feeds }) => {
    const some = feeds.length === 0 ? "" : `, of which ${feeds.slice(0, MAX_NAMED).join(", ")} knows some`;
    const count = `${packages} ${packages === 1 ? "package" : "packages"} of ${ecosystem}${some}`;
    return preset === "" ? count : `${count} (moorage feeds add ${preset} would)`;
  });
  const more = uncovered.length > MAX_NAMED ? [`${uncovered.length - MAX_NAMED} more ecosystems`] : [];
  const all = [...parts, ...more];
  return `no feed covers ${[all.slice(0, -1).join(", "), ...all.slice(-1)].filter((part) => part !== "").join(" and ")}`;
}

const MAX_NAMED = 3;
