import { compareVersions, isVersion } from "@moorage/kernel/lib/versions";
import { type Database, select } from "@moorage/kernel/store";
import { lookupsOf, versionOrder } from "../matching/package-keys.ts";

/** A library by the parts of its purl. */
export interface LibraryName {
  /** That of its purl. */
  type: string;
  /** Empty when it has none. */
  namespace: string;
  name: string;
}

/** The packages of images that are versions of one library: their ids by the version, as images have it. */
export type HeldVersions = ReadonlyMap<string, readonly string[]>;

/** The key under which records and packages of images have the library. */
export function libraryKey(library: LibraryName): string {
  return lookupsOf({ ...library, version: "" })[0]?.key ?? "";
}

/**
 * The versions of the library that images hold, or those that are the same as `version` by the order of the ecosystem:
 * in Python 1.0 and 1.0.0. A package is known a moment after its image was read.
 */
export async function heldVersions(db: Database, key: string, version: string): Promise<HeldVersions> {
  const rows = await select<{ package: string; version: string }>(
    db,
    "select package, version from package_keys where key = ? order by package",
    [key],
  );
  const found = new Map<string, string[]>();
  for (const row of rows) {
    if (version !== "" && !isSame(key, row.version, version)) continue;
    const ids = found.get(row.version);
    if (ids === undefined) found.set(row.version, [row.package]);
    else ids.push(row.package);
  }
  return found;
}

function isSame(key: string, one: string, other: string): boolean {
  const order = versionOrder(key);
  if (one === other || order === undefined) return one === other;
  return isVersion(order, one) && isVersion(order, other) && compareVersions(order, one, other) === 0;
}
