import { coveredIn } from "./coverage.ts";
import { COVERS_ALL, isWithin } from "./ecosystems.ts";
import { FEED_PRESETS } from "./presets.ts";

// Which packages a feed covers: what its preset is about, what its format has as a whole, and what whoever set it says
// that it does; of a feed of one's own about which nothing is said, all that it has records about. Of a list of single
// records `none` is said, since they say nothing about all other packages.

/** The columns of a feed by which it is known what it covers. */
export interface CoveringFeed {
  name: string;
  format: string;
  address: string;
  /** A JSON list; see FeedDefinition. */
  covers: string;
  /** A JSON list; see Covered. Null until an import has counted. */
  coverage: string | null;
}

/** Formats of which each document is about a whole distribution, or a release of it. */
const WHOLE_FORMATS: readonly string[] = ["alpine-secdb", "debian-tracker"];

/** Whether the feed covers the packages of a key space, such as `npm` or `debian:12`, if it has records there. */
export function doesCover({ name, format, address, covers }: CoveringFeed, space: string): boolean {
  if (WHOLE_FORMATS.includes(format)) return true;
  const declared = JSON.parse(covers) as string[];
  if (declared.some((each) => each === COVERS_ALL || isWithin(space, each))) return true;
  const presets = presetsOf({ name, format, address });
  return declared.length === 0 && presets.length === 0 ? true : presets.some((ecosystem) => isWithin(space, ecosystem));
}

/** How many records of the feed are about the key space; undefined until an import has counted them. */
export function recordsAbout({ coverage }: Pick<CoveringFeed, "coverage">, space: string): number | undefined {
  const covered = coveredIn(coverage);
  if (covered === undefined) return undefined;
  return covered.find((each) => each.isMatched && each.space === space)?.records ?? 0;
}

/** What the feed covers by its preset or the word of whoever set it, as a definition has it. */
export function coversOf(feed: Pick<CoveringFeed, "name" | "format" | "address" | "covers">): string[] {
  return [...new Set([...(JSON.parse(feed.covers) as string[]), ...presetsOf(feed)])];
}

/** The ecosystems of the preset that the feed is: by its name, or by the path below which a mirror has it as well. */
function presetsOf({ name, format, address }: Pick<CoveringFeed, "name" | "format" | "address">): readonly string[] {
  const path = URL.parse(address)?.pathname;
  return FEED_PRESETS.filter(
    (preset) =>
      preset.format === format &&
      (preset.name === name || (path !== undefined && path.endsWith(new URL(preset.address).pathname))),
  ).flatMap(({ ecosystems }) => ecosystems);
}
