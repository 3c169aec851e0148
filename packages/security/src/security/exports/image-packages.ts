import { keysOfPackage, parsedPurl, purlKey } from "@moorage/kernel/lib/purls";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { statedPackage } from "../vex/applies.ts";

/** A package that an image holds. */
export interface HeldPackage extends Omit<Row<"packages">, "matched"> {
  /** Where it lies; a package may lie in several places. */
  paths: string[];
}

/** The packages of an image, by what statements and advisories name. */
export interface HeldPackages {
  all: readonly HeldPackage[];
  /** Those that the purl or one of another version of it may mean; see keysOfPackage. */
  like(purl: string): readonly HeldPackage[];
  /** Those that have the name, or whose source has it. */
  named(name: string): readonly HeldPackage[];
}

/** What the sources say that the image holds, in the order of purls. See PackageSource. */
export async function packagesIn(tx: Database, digest: string, sources: readonly string[]): Promise<HeldPackages> {
  const rows = await select<Omit<HeldPackage, "paths"> & { path: string }>(
    tx,
    `select p.id, p.ecosystem, p.source_name, p.source_version, p.purl, p.name, p.version, p.licence, i.path
     from image_packages as i join packages as p on p.id = i.package where i.digest = ? and i.source in (${sources.map(() => "?").join(", ")}) order by p.purl, i.n`,
    [digest, ...sources],
  );
  const found = new Map<string, HeldPackage>();
  for (const { path, ...row } of rows) {
    const known = found.get(row.purl);
    if (known === undefined) found.set(row.purl, { ...row, paths: [path] });
    else if (!known.paths.includes(path)) known.paths.push(path);
  }
  return indexed([...found.values()]);
}

export function indexed(all: readonly HeldPackage[]): HeldPackages {
  const byPurl = new Map<string, HeldPackage[]>();
  const byName = new Map<string, Set<HeldPackage>>();
  for (const each of all) {
    for (const key of keysOfPackage(statedPackage(each))) {
      const known = byPurl.get(key);
      if (known === undefined) byPurl.set(key, [each]);
      else known.push(each);
    }
    for (const name of [each.name, each.source_name]) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, new Set([each]));
      else known.add(each);
    }
  }
  return {
    all,
    like: (text) => {
      const purl = parsedPurl(text);
      return (purl && byPurl.get(purlKey(purl))) ?? [];
    },
    named: (name) => [...(byName.get(name) ?? [])],
  };
}
