import { createHash } from "node:crypto";
import { parsedPurl, withBarePlus } from "@moorage/kernel/lib/purls";
import type { Database, Row } from "@moorage/kernel/store";
import type { Component } from "./types.ts";

/** The states of `image_catalogs`. */
export const CATALOG_STATE = { waiting: 1, done: 2, failed: 3 } as const;

/** The source of packages that were read from the layers of the image. */
export const LAYERS = "layers";

/** The source of what a later reading of the layers has found so far. Nobody asks for it until it is complete. */
export const LAYERS_AGAIN = "layers/again";

/** A new package; it waits to be compared with records. */
export type PackageRow = Omit<Row<"packages">, "matched">;

/** The longest license that is stored, in characters: some packages state whole texts. */
const MAX_LICENCE = 512;

type StatedPackage = Pick<Component, "purl" | "name" | "version" | "sourceName" | "sourceVersion" | "licence"> &
  Partial<Component>;

/** The row of a package, whose id is made of all else. */
export function packageRow({ purl, name, version, sourceName, sourceVersion, licence }: StatedPackage): PackageRow {
  const row = {
    ecosystem: ecosystemOf(purl),
    source_name: sourceName || name,
    source_version: sourceVersion || version,
    purl,
    name,
    version,
    // PostgreSQL has no text with a zero in it.
    licence: licence.replaceAll("\0", "").slice(0, MAX_LICENCE),
  };
  const id = createHash("sha256")
    // What was stored before a plus of its version was encoded is the same package.
    .update(JSON.stringify(Object.values({ ...row, purl: withBarePlus(purl) })))
    .digest("hex")
    .slice(0, 32);
  return { id, ...row };
}

/** `npm` or `deb/debian-12`. */
function ecosystemOf(purl: string): string {
  const { type = "", qualifiers } = parsedPurl(purl) ?? {};
  const distro = qualifiers?.get("distro");
  return distro === undefined ? type : `${type}/${distro}`;
}

/** Adds those of the packages that are not there. Each may be named more than once. */
export async function insertRows(tx: Database, rows: readonly PackageRow[]): Promise<void> {
  await tx
    .insertInto("packages")
    .values([...new Map(rows.map((row) => [row.id, row])).values()])
    .onConflict((on) => on.doNothing())
    .execute();
}

/** What one statement adds for an image and a source; `from`: the number of the first. */
export interface PackagePart {
  digest: string;
  source: string;
  from: number;
  components: readonly Component[];
}

/** Adds packages, for a command that has locked the catalogs. */
export async function insertPackages(tx: Database, { digest, source, from, components }: PackagePart): Promise<void> {
  if (components.length === 0) return;
  const packages = new Map<string, PackageRow>();
  const rows = components.map((component, n) => {
    const row = packageRow(component);
    packages.set(row.id, row);
    const { layer, path, reader } = component;
    return { digest, source, n: from + n, package: row.id, layer, path, reader };
  });
  await insertRows(tx, [...packages.values()]);
  await tx.insertInto("image_packages").values(rows).execute();
}
