import { keysOfPackage, parsedPurl, purlKey, type PurlOfPackage } from "@moorage/kernel/lib/purls";
import type { Database } from "@moorage/kernel/store";
import { statedPackage } from "../vex/applies.ts";
import { type LookupOptions, lookUpPackages, type NamedPackage, namesIn } from "./lookup.ts";

/** How many packages of one name are looked at. */
const MAX_VERSIONS = 2_000;

/**
 * The packages that may be meant by these purls: those that have the name, or whose source package has it, or that are
 * compared with the records about it. Whether one is meant is for the caller to see.
 */
export async function namedPackages(
  db: Database,
  purls: readonly string[],
  options: Omit<LookupOptions, "limit"> = {},
): Promise<(purl: string) => readonly PurlOfPackage[]> {
  const found = new Map<string, Map<string, PurlOfPackage>>();
  const named = purls.filter((purl) => parsedPurl(purl) !== undefined);
  await lookUpPackages(db, namesIn(named), options, (row) => addTo(found, row));
  return (purl) => {
    const read = parsedPurl(purl);
    return read === undefined ? [] : [...(found.get(purlKey(read))?.values() ?? [])];
  };
}

/** A package is found by its own name and by that of its source. */
function addTo(found: Map<string, Map<string, PurlOfPackage>>, row: NamedPackage): void {
  const held = statedPackage(row);
  for (const key of keysOfPackage(held)) {
    const known = found.get(key) ?? new Map<string, PurlOfPackage>();
    found.set(key, known);
    if (known.size < MAX_VERSIONS) known.set(row.id, held);
  }
}
