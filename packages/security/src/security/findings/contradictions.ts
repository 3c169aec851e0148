import type { Turn } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import { type NamedPackage, NamedVersions } from "../attached/contradictions.ts";
import { marks } from "../marks.ts";

const ROWS = 300;

/**
 * In which versions the sources of an image name these packages: by the names that they have, for what contradicts a
 * finding. Nothing is read where one source alone counts.
 */
export async function namedVersions(
  db: Database,
  { digest, sources }: { digest: string; sources: readonly string[] },
  names: readonly string[],
  turn: Turn | undefined,
): Promise<NamedVersions> {
  const found = new NamedVersions();
  const all = sources.length < 2 ? [] : [...new Set(names)];
  for (let at = 0; at < all.length; at += ROWS) {
    const some = all.slice(at, at + ROWS);
    const rows = await select<NamedPackage>(
      db,
      `select p.purl, p.version, i.source from packages as p join image_packages as i on i.package = p.id and i.digest = ?
       where p.name in (${marks(some)}) and i.source in (${marks(sources)})`,
      [digest, ...some, ...sources],
    );
    for (const row of rows.sort((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source))) found.add(row);
    await turn?.();
  }
  return found;
}
