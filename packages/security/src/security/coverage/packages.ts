import { type Database, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { doesCover, recordsAbout } from "../feeds/covers.ts";
import type { ComparedFeed, FeedStates } from "./compared-feeds.ts";
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
  /** The key spaces that they are in; see packageKey. */
  spaces: string[];
}

interface EcosystemRow {
  ecosystem: string;
  n: number | string;
  keyed: number | string;
  sample: string | null;
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
  const found: PackageCoverage = { packages: 0, uncovered: [], covered: [], waiting: 0, spaces: [] };
  if (sources.length === 0) return found;
  const rows = await select<EcosystemRow>(
    tx,
    `select h.ecosystem, count(*) as n, count(h.keyed) as keyed, min(h.keyed) as sample from (
       select p.ecosystem, case when exists (select 1 from package_keys as k where k.package = p.id) then p.id end as keyed
       from (select distinct i.package from image_packages as i where i.digest = ? and i.source in (${marks(sources)})) as d
       join packages as p on p.id = d.package) as h
     group by h.ecosystem`,
    [digest, ...sources],
  );
  const spaces = await spacesOf(
    tx,
    rows.flatMap(({ sample }) => (sample === null ? [] : [sample])),
  );
  const feeds = await feedStates.feeds();
  const states = new Map<string, SpaceState>();
  for (const space of new Set([...spaces.values()].flat())) states.set(space, await feedStates.stateOf(space));
  const add = (ecosystem: string, packages: number, preset: string, own: readonly string[]): void => {
    if (packages === 0) return;
    const partial = feeds.filter((feed) => own.some((space) => (recordsAbout(feed, space) ?? 0) > 0));
    found.uncovered.push({ ecosystem, packages, preset, feeds: partial.map(({ name }) => name) });
  };
  for (const row of rows) {
    const [all, keyed] = [Number(row.n), Number(row.keyed)];
    found.packages += all;
    add(nameOfEcosystem(row.ecosystem), all - keyed, "", []);
    const own = spaces.get(row.sample ?? "") ?? [];
    const known = own.map((space) => states.get(space));
    if (known.includes("compared"))
      found.covered.push({ ecosystem: nameOfEcosystem(row.ecosystem), packages: keyed, feeds: coveringOf(feeds, own) });
    else if (known.includes("waiting")) found.waiting += keyed;
    else add(nameOfEcosystem(row.ecosystem), keyed, presetFor(own[0] ?? ""), own);
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

/** The key spaces of each of these packages. */
async function spacesOf(tx: Database, packages: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (packages.length === 0) return found;
  const rows = await select<{ package: string; key: string }>(
    tx,
    `select k.package, k.key from package_keys as k where k.package in (${marks(packages)}) order by k.key`,
    packages,
  );
  for (const row of rows) {
    const space = row.key.slice(0, row.key.indexOf("/"));
    found.set(row.package, [...new Set([...(found.get(row.package) ?? []), space])]);
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
