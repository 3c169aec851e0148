import { fullName, isOfDistribution, parsedPurl } from "@moorage/kernel/lib/purls";
import type { Turn } from "@moorage/kernel/lib/turns";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { lookupsOf } from "../matching/package-keys.ts";

// The one lookup of stored packages by what texts call them, by indexes alone.

const ROWS = 300;

/** A package as texts name it. */
export type NamedPackage = Pick<Row<"packages">, "id" | "purl" | "name" | "version" | "source_name" | "source_version">;

/** What packages are looked up by. */
export interface PackageNames {
  /** Their own names. */
  names?: readonly string[];
  /** Those of their source packages. */
  sourceNames?: readonly string[];
  /** Names of npm in lower case, which old packages have with capitals. */
  npm?: readonly string[];
  /** Keys of the records that they are compared with. */
  keys?: readonly string[];
}

export interface LookupOptions {
  /** Only packages that one of the sources says this image holds. */
  image?: { digest: string; sources: readonly string[] } | undefined;
  /** How many are found by some hundred names at most, the first in the order of the image's list; all without. */
  limit?: number;
  turn?: Turn | undefined;
}

/** Calls `found` with each package that has one of the names, perhaps more than once. */
export async function lookUpPackages(
  db: Database,
  { names = [], sourceNames = [], npm = [], keys = [] }: PackageNames,
  { image, limit, turn }: LookupOptions,
  found: (row: NamedPackage) => void,
): Promise<void> {
  if (image?.sources.length === 0) return;
  const held =
    image === undefined
      ? ""
      : `from image_packages as i where i.package = p.id and i.digest = ? and i.source in (${marks(image.sources)})`;
  const within = held === "" ? "" : ` and exists (select 1 ${held})`;
  const inOrder = held === "" || limit === undefined ? "" : ` order by (select min(i.n) ${held})`;
  const own = image === undefined ? [] : [image.digest, ...image.sources];
  const look = async (all: readonly string[], tables: string, column: string): Promise<void> => {
    for (let at = 0; at < all.length; at += ROWS) {
      const some = all.slice(at, at + ROWS);
      const rows = await select<NamedPackage>(
        db,
        `select p.id, p.purl, p.name, p.version, p.source_name, p.source_version from ${tables}
         where ${column} in (${marks(some)})${within}${inOrder}${limit === undefined ? "" : ` limit ${limit}`}`,
        [...some, ...own, ...(inOrder === "" ? [] : own)],
      );
      for (const row of rows) found(row);
      await turn?.();
    }
  };
  await look(names, "packages as p", "p.name");
  await look(sourceNames, "packages as p", "p.source_name");
  await look(npm, "packages as p", "p.ecosystem = 'npm' and p.name <> lower(p.name) and lower(p.name)");
  await look(keys, "package_keys as k join packages as p on p.id = k.package", "k.key");
}

/** What the packages are looked up by that the texts may mean: names, or package URLs. */
export function namesIn(texts: readonly string[]): PackageNames {
  const names = new Set<string>();
  const npm = new Set<string>();
  const keys = new Set<string>();
  for (const text of texts) {
    const purl = parsedPurl(text);
    const name = purl === undefined ? text : fullName(purl);
    names.add(name);
    if (purl?.type === "npm") npm.add(name);
    const key =
      purl === undefined || isOfDistribution(purl.type) ? undefined : lookupsOf({ ...purl, version: "" })[0]?.key;
    if (key !== undefined) keys.add(key);
  }
  return { names: [...names], sourceNames: [...names], npm: [...npm], keys: [...keys] };
}
