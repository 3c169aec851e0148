import { fullName, isOfDistribution, isPurl, parsedPurl, type Purl, purlMatcher } from "../../lib/purls/index.ts";
import { type Database, type Row, select } from "../../store/index.ts";
import { vulnerabilityKey } from "../records/record.ts";
import { lookupsOf } from "../matching/package-keys.ts";
import { statedPackage } from "../vex/applies.ts";
import { marks } from "../marks.ts";

// Which packages a list is about: few, found by an index.

const ROWS = 200;

/** What a list of findings is narrowed to. */
export interface Wanted {
  vulnerabilities: readonly string[];
  packages: readonly string[];
}

/**
 * The ids of the packages that the filters leave, in their order. Undefined when neither filter is set. They may be too
 * many: what a finding is about is checked when it is read.
 */
export async function wantedPackages(
  db: Database,
  { vulnerabilities, packages }: Wanted,
): Promise<string[] | undefined> {
  const byVulnerability = vulnerabilities.length === 0 ? undefined : await affectedBy(db, vulnerabilities);
  if (packages.length === 0) return byVulnerability === undefined ? undefined : [...byVulnerability].sort();
  const named = (await packagesNamed(db, packages)).map(({ id }) => id);
  return named.filter((id) => byVulnerability?.has(id) ?? true).sort();
}

/**
 * The packages with a finding, open or closed, of a record that has one of the ids, is about one in its own packages,
 * or has an alias in common with one.
 */
export async function affectedBy(db: Database, ids: readonly string[]): Promise<Set<string>> {
  const keys = new Set(ids.map(vulnerabilityKey));
  // A record may be known by an alias that only another record of the same vulnerability has.
  for (let round = 0; round < 2; round += 1) for (const key of await keysBeside(db, [...keys])) keys.add(key);
  const found = new Set<string>();
  const all = [...keys];
  for (let at = 0; at < all.length; at += ROWS) {
    const some = all.slice(at, at + ROWS);
    const rows = await select<{ package: string }>(
      db,
      `select distinct p.package from feed_keys as k join package_findings as p on p.feed = k.feed and p.record = k.record
       where k.kind in ('id', 'alias', 'upstream', 'former') and k.key in (${marks(some)})`,
      some,
    );
    for (const row of rows) found.add(row.package);
  }
  return found;
}

export async function keysBeside(db: Database, keys: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < keys.length; at += ROWS) {
    const some = keys.slice(at, at + ROWS);
    const rows = await select<{ key: string }>(
      db,
      `select distinct o.key from feed_keys as k join feeds as f on f.name = k.feed and f.format = 'osv'
       join feed_keys as o on o.feed = k.feed and o.record = k.record and o.kind in ('id', 'alias')
       where k.kind in ('id', 'alias') and k.key in (${marks(some)}) limit 10000`,
      some,
    );
    found.push(...rows.map(({ key }) => key));
  }
  return found;
}

/** A package as texts name it. */
export type NamedPackage = Pick<Row<"packages">, "id" | "purl" | "name" | "source_name" | "source_version">;

const COLUMNS = "id, purl, name, source_name, source_version";

/** The packages that the names mean, each a name of packages or a package URL. See isNamed. */
export async function packagesNamed(db: Database, names: readonly string[]): Promise<NamedPackage[]> {
  const found = new Map<string, NamedPackage>();
  for (const given of names) {
    const purl = parsedPurl(given);
    const name = purl === undefined ? given : fullName(purl);
    const rows = await select<NamedPackage>(
      db,
      `select ${COLUMNS} from packages where name = ? union select ${COLUMNS} from packages where source_name = ?`,
      [name, name],
    );
    if (purl !== undefined && !isOfDistribution(purl.type)) rows.push(...(await packagesUnderKey(db, purl)));
    if (purl?.type === "npm") rows.push(...(await packagesWithCapitals(db, name)));
    const isMeant = namedBy(given);
    for (const row of rows) if (isMeant(row)) found.set(row.id, row);
  }
  return [...found.values()];
}

/** The packages that are compared with the records about the purl's package, however their names are written. */
async function packagesUnderKey(db: Database, purl: Purl): Promise<NamedPackage[]> {
  const key = lookupsOf({ ...purl, version: "" })[0]?.key;
  if (key === undefined) return [];
  return await select<NamedPackage>(
    db,
    `select ${COLUMNS} from packages where id in (select package from package_keys where key = ?)`,
    [key],
  );
}

/** Old packages of npm, whose purls have their names in lower case. Found by an index of such packages alone. */
async function packagesWithCapitals(db: Database, name: string): Promise<NamedPackage[]> {
  return await select<NamedPackage>(
    db,
    `select ${COLUMNS} from packages where ecosystem = 'npm' and name <> lower(name) and lower(name) = ?`,
    [name],
  );
}

/** Whether the text names the package: its name, that of its source, or a package URL that means it. */
export function isNamed(row: Omit<NamedPackage, "id">, given: string): boolean {
  return namedBy(given)(row);
}

function namedBy(given: string): (row: Omit<NamedPackage, "id">) => boolean {
  if (!isPurl(given)) return (row) => row.name === given || row.source_name === given;
  const matches = purlMatcher(given);
  return (row) => matches?.(statedPackage(row)) === true;
}
