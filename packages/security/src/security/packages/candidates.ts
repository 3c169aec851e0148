import { isPurl, purlMatcher } from "@moorage/kernel/lib/purls";
import { type Database, select } from "@moorage/kernel/store";
import { vulnerabilityKey } from "../records/record.ts";
import { statedPackage } from "../vex/applies.ts";
import { marks } from "../marks.ts";
import { lookUpPackages, type NamedPackage, namesIn } from "./lookup.ts";

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

/** The packages that the names mean, each a name of packages or a package URL. See isNamed. */
export async function packagesNamed(db: Database, names: readonly string[]): Promise<NamedPackage[]> {
  const found = new Map<string, NamedPackage>();
  for (const given of names) {
    const isMeant = namedBy(given);
    await lookUpPackages(db, namesIn([given]), {}, (row) => {
      if (isMeant(row)) found.set(row.id, row);
    });
  }
  return [...found.values()];
}

type PackageTexts = Omit<NamedPackage, "id" | "version">;

/** Whether the text names the package: its name, that of its source, or a package URL that means it. */
export function isNamed(row: PackageTexts, given: string): boolean {
  return namedBy(given)(row);
}

function namedBy(given: string): (row: PackageTexts) => boolean {
  if (!isPurl(given)) return (row) => row.name === given || row.source_name === given;
  const matches = purlMatcher(given);
  return (row) => matches?.(statedPackage(row)) === true;
}
