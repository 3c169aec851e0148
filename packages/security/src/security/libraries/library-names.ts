import { type Database, select } from "@moorage/kernel/store";
import { vulnerabilityKey } from "../records/record.ts";
import { keysBeside } from "../packages/candidates.ts";
import { marks } from "../marks.ts";

const ROWS = 200;

/** A name in a language's registry, in the form in which the registry compares names. */
export interface RegistryName {
  type: string;
  name: string;
}

/**
 * The libraries that records about these vulnerabilities name, by any of their ids, by what they are about in their own
 * packages, or by an alias in common with one:
 * those of which versions may be affected. `types`: of purls, which they have.
 */
export async function librariesNamedBy(
  db: Database,
  vulnerabilities: readonly string[],
  types: readonly string[],
): Promise<RegistryName[]> {
  const keys = new Set(vulnerabilities.map(vulnerabilityKey));
  // A record may be known by an alias that only another record of the same vulnerability has.
  for (let round = 0; round < 2; round += 1) for (const key of await keysBeside(db, [...keys])) keys.add(key);
  const all = [...keys];
  const found = new Set<string>();
  for (let at = 0; at < all.length; at += ROWS) {
    const some = all.slice(at, at + ROWS);
    const rows = await select<{ key: string }>(
      db,
      `select distinct p.key from feed_keys as k join feeds as f on f.name = k.feed and f.format = 'osv'
       join feed_keys as p on p.feed = k.feed and p.record = k.record and p.kind = 'package'
       where k.kind in ('id', 'alias', 'upstream') and k.key in (${marks(some)})`,
      some,
    );
    for (const { key } of rows) found.add(key);
  }
  return [...found].flatMap((key) => {
    const cut = key.indexOf("/");
    const type = key.slice(0, cut);
    return types.includes(type) ? [{ type, name: key.slice(cut + 1) }] : [];
  });
}

/** Those of the libraries of which a record says something. */
export async function librariesWithRecords(db: Database, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let at = 0; at < keys.length; at += ROWS) {
    const some = keys.slice(at, at + ROWS);
    const rows = await select<{ key: string }>(
      db,
      `select distinct key from feed_keys where kind = 'package' and key in (${marks(some)})`,
      some,
    );
    for (const { key } of rows) found.add(key);
  }
  return found;
}
