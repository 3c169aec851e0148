import type { Database } from "@moorage/kernel/store";
import { factsOfImage } from "./package-facts.ts";

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

const MAX_NAMED = 200;

/**
 * The packages that these sources say an image holds and whose versions are in no range: records find them only where
 * they list the version, or are about all versions.
 */
export async function uncomparedIn(db: Database, digest: string, sources: readonly string[]): Promise<Uncompared> {
  const found: UncomparedPackage[] = [];
  for await (const facts of factsOfImage(db, digest, sources))
    for (const { unreadable } of facts.values()) if (unreadable !== undefined) found.push(unreadable);
  const packages = found.sort((a, b) => (a.purl < b.purl ? -1 : 1));
  return { count: packages.length, packages: packages.slice(0, MAX_NAMED) };
}
