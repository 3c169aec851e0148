import { MoorageError } from "@moorage/kernel/errors";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import { createLru } from "@moorage/kernel/lib/lru";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { type Coordinates, nameOf } from "./paths.ts";
import type { SaidFacts } from "./render.ts";
import { upstreamPom } from "./upstream-poms.ts";

const CONCURRENCY = 8;
const NONE: ReadonlyMap<string, SaidFacts> = new Map();

/** What POMs have said, by upstream and artifact: they are not asked for again by each document. */
const known = createLru<string, ReadonlyMap<string, SaidFacts>>(100_000, ({ size }) => size + 1);

function idOf({ uid, url }: UpstreamSettings, coordinates: Coordinates): string {
  return `${uid} ${url} ${nameOf(coordinates)}`;
}

/** What the POMs of releases of an artifact have said, as far as they were asked for. */
export function saidOf(
  settings: UpstreamSettings | undefined,
  coordinates: Coordinates,
): ReadonlyMap<string, SaidFacts> {
  return (settings && known.get(idOf(settings, coordinates))) ?? NONE;
}

/**
 * Asks for the POMs of releases. Metadata do not say when a release was published: the Last-Modified of its POM is its
 * age. `seenMs`: since when a release is known to be there, for one whose POM says nothing. Answers whether all of them
 * were answered.
 */
export async function askForAges(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  coordinates: Coordinates,
  versions: readonly string[],
  seenMs: (version: string) => Promise<number | undefined>,
): Promise<boolean> {
  const { groupId, artifactId } = coordinates;
  const found: [string, SaidFacts][] = [];
  let isWhole = true;
  await forEachConcurrently(versions, CONCURRENCY, async (version) => {
    try {
      const pom = await upstreamPom(exchange, settings, { groupId, artifactId, version });
      const license = pom === undefined ? "" : pom.license === "" && pom.parent !== null ? null : pom.license;
      found.push([version, { publishMs: pom?.publishMs ?? (await seenMs(version)), license }]);
    } catch (error) {
      if (!(error instanceof MoorageError)) throw error;
      isWhole = false;
    }
  });
  const id = idOf(settings, coordinates);
  // Another one, since the map weighs as much as it has entries.
  if (found.length > 0) known.set(id, new Map([...(known.get(id) ?? NONE), ...found]));
  return isWhole;
}
