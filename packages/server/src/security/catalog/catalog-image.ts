import { TempFolder } from "./held-file.ts";
import { type FileRecord, type LayeredPackage, MergedFiles } from "./merged-files.ts";
import { purlOf } from "./purls.ts";
import { type LayerContext, readLayer } from "./read-layer.ts";
import type { Catalog, CatalogLimits, Component, Layer, OsRelease, Unread } from "./types.ts";

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
export const DEFAULT_LIMITS: CatalogLimits = { bytes: 64 * 2 ** 30, entries: 3_000_000, packages: 200_000 };

/** The longest name of a package, in characters. */
const MAX_NAME = 256;

/** The most files named as not read; what is beyond is not said. */
const MAX_UNREAD = 1_000;

/**
 * Reads the layers of one image and answers its packages: those of dpkg, apk and rpm, of npm, Python and Java, and what
 * Go and Rust wrote into programs. It takes at most some 256 MiB of memory (128 of them for zstd's window, 64 for a
 * package database), and a kilobyte for each package; it blocks its thread for as long as it parses. Whiteouts are
 * obeyed; links and devices are not followed. Throws CatalogError with what is wrong with the image.
 */
export async function catalogImage({ layers, tempDir, limits, signal }: CatalogInput): Promise<Catalog> {
  const merged = new MergedFiles();
  const notRead = new Map<string, Unread>();
  const context: LayerContext = {
    temp: new TempFolder(tempDir),
    limits: { ...DEFAULT_LIMITS, ...limits },
    counted: { bytes: 0, entries: 0, packages: 0 },
    signal: signal ?? new AbortController().signal,
    below: merged,
    unread: (file) => void (notRead.size < MAX_UNREAD && notRead.set(file.path, file)),
  };
  for (const layer of layers) merged.apply(await readLayer(layer, context));
  const os = (merged.files.get("etc/os-release") ?? merged.files.get("usr/lib/os-release"))?.os;
  const components: Component[] = [];
  for (const [path, record] of [...merged.files].sort(([a], [b]) => (a < b ? -1 : 1)))
    components.push(...componentsOf(path, record, os));
  return { os, components, unread: [...notRead.values()] };
}

/** Programs hold packages of more than one kind. */
const COMPILERS: Partial<Record<string, string>> = { golang: "go", cargo: "rust" };

function componentsOf(path: string, { reader, packages }: FileRecord, os: OsRelease | undefined): Component[] {
  const found = new Map<string, Component>();
  for (const each of packages) {
    const purl = purlOf(each, os);
    if (purl === undefined) continue;
    const inImage = each.inner === undefined ? path : `${path}!/${each.inner}`;
    const component = { ...described(each), purl, path: inImage, reader: COMPILERS[each.type] ?? reader };
    if (isSound(component)) found.set(`${purl} ${component.path}`, component);
  }
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
  };
}
