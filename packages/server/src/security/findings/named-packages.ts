import type { Turn } from "../../lib/turns.ts";
import { type Database, select } from "../../store/index.ts";
import { nameIn } from "./candidates.ts";
import { marks } from "./images.ts";

const ROWS = 300;

/**
 * The purls of the packages of an image by what these purls name: those that have the name, or whose source package has
 * it. Whether one is meant is for the caller to see.
 */
export async function namedPackages(
  db: Database,
  { digest, sources }: { digest: string; sources: readonly string[] },
  purls: readonly string[],
  turn: Turn | undefined,
): Promise<(purl: string) => readonly string[]> {
  const names = sources.length === 0 ? [] : [...new Set(purls.map(nameIn))];
  const found = new Map<string, Set<string>>();
  const add = (name: string, purl: string): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, new Set([purl]));
    else known.add(purl);
  };
  for (let at = 0; at < names.length; at += ROWS) {
    const some = names.slice(at, at + ROWS);
    for (const column of ["name", "source_name"] as const)
      for (const row of await select<{ purl: string; named: string }>(
        db,
        `select p.purl, p.${column} as named from packages as p where p.${column} in (${marks(some)}) and exists
          (select 1 from image_packages as i where i.package = p.id and i.digest = ? and i.source in (${marks(sources)}))`,
        [...some, digest, ...sources],
      ))
        add(row.named, row.purl);
    await turn?.();
  }
  return (purl) => [...(found.get(nameIn(purl)) ?? [])];
}
