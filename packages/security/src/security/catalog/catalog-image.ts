import { ReadingBudget } from "./budget.ts";
import { TempFolder } from "./held-file.ts";
import { type FileRecord, type LayeredPackage, MergedFiles } from "./merged-files.ts";
import type { ArchiveClues } from "./readers/java-clues.ts";
import { purlOf } from "./purls.ts";
import { unidentified, UnreadFiles } from "./unread-files.ts";
import { type LayerContext, leftOut, readLayer } from "./read-layer.ts";
import { type Catalog, CatalogError, type CatalogLimits, type Component, type Layer, type OsRelease } from "./types.ts";

export interface CatalogInput {
  /** From the lowest. */
  layers: readonly Layer[];
  /** An empty folder for files too large for memory; nothing is left in it, and nothing written outside of it. */
  tempDir: string;
  limits?: Partial<CatalogLimits>;
  /** Ends the reading between two pieces of a layer. */
  signal?: AbortSignal;
}

/** What the largest images of public registries do not come near to. */
const DEFAULT_LIMITS: CatalogLimits = {
  layers: 1_000,
  bytes: 64 * 2 ** 30,
  entries: 3_000_000,
  packages: 200_000,
  folders: 1_000_000,
  characters: 64 * 2 ** 20,
};

/** The longest name of a package, in characters. */
const MAX_NAME = 256;

/**
 * Reads the layers of one image and answers its packages: those of dpkg, apk and rpm, those of languages that lie in
 * files, and what Go and Rust wrote into programs. It takes at most some 256 MiB of memory (128 of them for zstd's
 * window, 64 for a package database), and a kilobyte for each package; it blocks its thread for as long as it parses.
 * Whiteouts are obeyed; links and devices are not followed. Throws CatalogError with what is wrong with the image.
 */
export async function catalogImage({ layers, tempDir, limits, signal }: CatalogInput): Promise<Catalog> {
  const budget = new ReadingBudget({ ...DEFAULT_LIMITS, ...limits });
  const merged = new MergedFiles(budget.limits.folders);
  const notRead = new UnreadFiles();
  if (layers.length > budget.limits.layers)
    throw new CatalogError(`the image has more than ${budget.limits.layers} layers`);
  const context: LayerContext = {
    temp: new TempFolder(tempDir),
    budget,
    signal: signal ?? new AbortController().signal,
    below: merged,
    unread: (file) => notRead.add(file),
  };
  for (const layer of layers) merged.apply(await readLayer(layer, context));
  const os = (merged.files.get("etc/os-release") ?? merged.files.get("usr/lib/os-release"))?.os;
  const components: Component[] = [];
  for (const [path, record] of [...merged.files].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const component of componentsOf(path, record, os, notRead)) components.push(component);
  return { os, components, unread: notRead.list() };
}

/** Programs hold packages of more than one kind. */
const COMPILERS: Partial<Record<string, string>> = { golang: "go", cargo: "rust" };

function componentsOf(
  path: string,
  { reader, packages }: FileRecord,
  os: OsRelease | undefined,
  notRead: UnreadFiles,
): Component[] {
  const found = new Map<string, Component>();
  let count = 0;
  for (const each of packages) {
    const inImage = each.inner === undefined ? path : `${path}!/${each.inner}`;
    if (each.clues) {
      const { sha1 } = JSON.parse(each.clues) as ArchiveClues;
      const note = unidentified({ path: inImage, layer: each.layer, sha1 });
      notRead.add(each.version === "" ? note : { ...note, waits: true });
    }
    // Without a name and a version it is no package that anything could be said of.
    if (each.clues !== undefined && each.version === "") continue;
    const purl = purlOf(each, os);
    if (purl === undefined) {
      count += 1;
      continue;
    }
    const component = { ...described(each), purl, path: inImage, reader: COMPILERS[each.type] ?? reader };
    if (isSound(component)) found.set(`${purl} ${component.path}`, component);
    else count += 1;
  }
  if (count > 0) notRead.add({ path, layer: packages[0]?.layer ?? "", reason: leftOut(count) });
  return [...found.values()].sort((a, b) => (a.purl < b.purl ? -1 : a.purl > b.purl ? 1 : 0));
}

/**
 * Whether it can be stored. What no real package has cannot be by every database: a zero in a text, a name too long for
 * an index.
 */
export function isSound(component: Component): boolean {
  const { name, sourceName, purl } = component;
  return (
    name.length <= MAX_NAME &&
    sourceName.length <= MAX_NAME &&
    !/%00|\0/.test(Object.values(component).join(" ") + purl)
  );
}

function described(each: LayeredPackage): Omit<Component, "purl" | "path" | "reader"> {
  return {
    name:
      each.namespace === undefined ? each.name : `${each.namespace}${each.type === "maven" ? ":" : "/"}${each.name}`,
    version: each.epoch === undefined ? each.version : `${each.epoch}:${each.version}`,
    sourceName: each.sourceName ?? "",
    sourceVersion: each.sourceVersion ?? "",
    licence: each.licence ?? "",
    layer: each.layer,
    ...(each.clues && { clues: each.clues }),
  };
}
