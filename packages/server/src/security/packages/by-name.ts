import {
  fullName,
  isOfDistribution,
  keysOfPackage,
  parsedPurl,
  purlKey,
  type PurlOfPackage,
} from "../../lib/purls/index.ts";
import type { Turn } from "../../lib/turns.ts";
import { type Database, type Row, select } from "../../store/index.ts";
import { lookupsOf } from "../matching/package-keys.ts";
import { statedPackage } from "../vex/applies.ts";
import { marks } from "../marks.ts";

const ROWS = 300;

/** How many packages of one name are looked at. */
const MAX_VERSIONS = 2_000;

type PackageRow = Pick<Row<"packages">, "id" | "purl" | "source_name" | "source_version">;

export interface NamedOptions {
  /** Only packages that one of the sources says this image holds. */
  image?: { digest: string; sources: readonly string[] };
  turn?: Turn | undefined;
}

/**
 * The packages that may be meant by these purls: those that have the name, or whose source package has it, or that are
 * compared with the records about it. Whether one is meant is for the caller to see.
 */
export async function namedPackages(
  db: Database,
  purls: readonly string[],
  { image, turn }: NamedOptions = {},
): Promise<(purl: string) => readonly PurlOfPackage[]> {
  if (image?.sources.length === 0) return () => [];
  const { names, npm, keys } = namesIn(purls);
  const within =
    image === undefined
      ? ""
      : ` and exists (select 1 from image_packages as i where i.package = p.id and i.digest = ? and i.source in (${marks(image.sources)}))`;
  const own = image === undefined ? [] : [image.digest, ...image.sources];
  const found = new Map<string, Map<string, PurlOfPackage>>();
  const look = async (all: readonly string[], tables: string, column: string): Promise<void> => {
    for (let at = 0; at < all.length; at += ROWS) {
      const some = all.slice(at, at + ROWS);
      const rows = await select<PackageRow>(
        db,
        `select p.id, p.purl, p.source_name, p.source_version from ${tables} where ${column} in (${marks(some)})${within}`,
        [...some, ...own],
      );
      for (const row of rows) addTo(found, row);
      await turn?.();
    }
  };
  await look(names, "packages as p", "p.name");
  await look(names, "packages as p", "p.source_name");
  // Old packages of npm, whose purls have their names in lower case.
  await look(npm, "packages as p", "p.ecosystem = 'npm' and p.name <> lower(p.name) and lower(p.name)");
  await look(keys, "package_keys as k join packages as p on p.id = k.package", "k.key");
  return (purl) => {
    const read = parsedPurl(purl);
    return read === undefined ? [] : [...(found.get(purlKey(read))?.values() ?? [])];
  };
}

function namesIn(purls: readonly string[]): { names: string[]; npm: string[]; keys: string[] } {
  const names = new Set<string>();
  const npm = new Set<string>();
  const keys = new Set<string>();
  for (const text of purls) {
    const purl = parsedPurl(text);
    if (purl === undefined) continue;
    const name = fullName(purl);
    names.add(name);
    if (purl.type === "npm") npm.add(name);
    const key = isOfDistribution(purl.type) ? undefined : lookupsOf({ ...purl, version: "" })[0]?.key;
    if (key !== undefined) keys.add(key);
  }
  return { names: [...names], npm: [...npm], keys: [...keys] };
}

/** A package is found by its own name and by that of its source. */
function addTo(found: Map<string, Map<string, PurlOfPackage>>, row: PackageRow): void {
  const held = statedPackage(row);
  for (const key of keysOfPackage(held)) {
    const known = found.get(key) ?? new Map<string, PurlOfPackage>();
    found.set(key, known);
    if (known.size < MAX_VERSIONS) known.set(row.id, held);
  }
}
