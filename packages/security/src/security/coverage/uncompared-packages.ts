import { createTurns } from "@moorage/kernel/lib/turns";
import { isVersion } from "@moorage/kernel/lib/versions";
import { type Database, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { versionOrder } from "../matching/package-keys.ts";

/** A package whose version the order of its ecosystem cannot read, such as `(devel)` of a Go program. */
interface UncomparedPackage {
  purl: string;
  version: string;
}

/** Such packages of an image. */
export interface Uncompared {
  count: number;
  /** The first of them, by their package URLs. */
  packages: UncomparedPackage[];
}

const ROWS = 2_000;
const NAMES = 500;
const MAX_NAMED = 200;

/**
 * The packages that these sources say an image holds and whose versions are in no range: records find them only where
 * they list the version, or are about all versions.
 */
export async function uncomparedIn(db: Database, digest: string, sources: readonly string[]): Promise<Uncompared> {
  const found = new Map<string, string>();
  const turn = createTurns();
  for (let after = sources.length === 0 ? undefined : ""; after !== undefined;) {
    const rows = await select<{ id: string; key: string | null; version: string }>(
      db,
      `select d.package as id, k.key, k.version from (
         select distinct i.package from image_packages as i
         where i.digest = ? and i.source in (${marks(sources)}) and i.package > ? order by i.package limit ${ROWS}) as d
       left join package_keys as k on k.package = d.package order by d.package`,
      [digest, ...sources, after],
    );
    for (const { id, key, version } of rows) {
      const order = versionOrder(key ?? "");
      if (order !== undefined && !isVersion(order, version)) found.set(id, version);
    }
    after = new Set(rows.map(({ id }) => id)).size < ROWS ? undefined : rows.at(-1)?.id;
    await turn();
  }
  return { count: found.size, packages: await firstByPurl(db, found) };
}

/** The first of these packages by their package URLs, with their versions; `versions`: by the ids of packages. */
async function firstByPurl(db: Database, versions: ReadonlyMap<string, string>): Promise<UncomparedPackage[]> {
  const ids = [...versions.keys()];
  const packages: UncomparedPackage[] = [];
  for (let at = 0; at < ids.length; at += NAMES) {
    const some = ids.slice(at, at + NAMES);
    const rows = await select<{ id: string; purl: string }>(
      db,
      `select id, purl from packages where id in (${marks(some)})`,
      some,
    );
    for (const { id, purl } of rows) packages.push({ purl, version: versions.get(id) ?? "" });
  }
  return packages.sort((a, b) => (a.purl < b.purl ? -1 : 1)).slice(0, MAX_NAMED);
}
