import { PackageURL } from "packageurl-js";
import { type Database, select } from "../../store/index.ts";
import { vulnerabilityKey } from "../feeds/stored.ts";
import { marks } from "./images.ts";

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
  const named = await packagesNamed(db, packages);
  return [...named].filter((id) => byVulnerability?.has(id) ?? true).sort();
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

async function packagesNamed(db: Database, names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const given of names) {
    const name = nameIn(given);
    const rows = await select<{ id: string; purl: string; name: string; source_name: string }>(
      db,
      `select id, purl, name, source_name from packages where name = ? union select id, purl, name, source_name from packages where source_name = ?`,
      [name, name],
    );
    for (const row of rows) if (isNamed(row, given)) found.add(row.id);
  }
  return found;
}

/** Whether the text names the package: its name, that of its source, or its purl, whose version may be left out. */
export function isNamed(row: { purl: string; name: string; source_name: string }, given: string): boolean {
  if (!given.startsWith("pkg:")) return row.name === given || row.source_name === given;
  return row.purl === given || row.purl.startsWith(`${given}@`) || row.purl.startsWith(`${given}?`);
}

/** The name that a package URL has, as packages are stored; other texts are names. */
export function nameIn(given: string): string {
  if (!given.startsWith("pkg:")) return given;
  try {
    const { type, namespace, name } = PackageURL.fromString(given);
    const isOfDistribution = ["deb", "apk", "rpm"].includes(type);
    return typeof namespace !== "string" || isOfDistribution
      ? name
      : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
  } catch {
    return given;
  }
}
