import { CatalogError, type FoundPackage, type OsRelease } from "./types.ts";

/** A package with the digest of the layer that brought this version of it. */
export interface LayeredPackage extends FoundPackage {
  layer: string;
}

/** What was found in a file, as the image has it. */
export interface FileRecord {
  reader: string;
  packages: LayeredPackage[];
  os?: OsRelease | undefined;
}

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";

/** A path of an archive without `.` and doubled slashes; undefined for one that leaves the root. */
export function cleanPath(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.includes("..") ? undefined : parts.join("/");
}

/** What one layer changes. Order within the layer does not matter to what it removes: that is of the layers below. */
export class LayerChanges {
  readonly added = new Map<string, FileRecord>();
  readonly removed = new Set<string>();
  readonly emptied = new Set<string>();
  readonly #below: MergedFiles;

  constructor(below: MergedFiles) {
    this.#below = below;
  }

  /** Whether what lies below at the path was replaced or removed. */
  hides(path: string): boolean {
    return isHidden(path, this.removed, this.emptied);
  }

  /** Notes an entry. Answers false when it is a whiteout, not a file. Source: OCI image-spec, layer.md. */
  see(path: string, isDirectory: boolean): boolean {
    const cut = path.lastIndexOf("/") + 1;
    const name = path.slice(cut);
    this.added.delete(path);
    if (!name.startsWith(WHITEOUT)) {
      if (isDirectory ? this.#below.files.has(path) : this.#below.has(path)) this.removed.add(path);
      return true;
    }
    const folder = path.slice(0, Math.max(0, cut - 1));
    if (name === OPAQUE) {
      if (folder === "" || this.#below.has(folder)) this.emptied.add(folder);
    } else {
      const target = path.slice(0, cut) + name.slice(WHITEOUT.length);
      if (this.#below.has(target)) this.removed.add(target);
    }
    return false;
  }
}

/** The files in which something was found, merged over the layers from the lowest. Paths are clean. */
export class MergedFiles {
  readonly files = new Map<string, FileRecord>();
  /** The number of files below each folder. */
  readonly #folders = new Map<string, number>();
  readonly #maxFolders: number;

  /** Throws a CatalogError when the files lie in more folders than that. */
  constructor(maxFolders: number) {
    this.#maxFolders = maxFolders;
  }

  /** Whether such a file lies at the path or below it. */
  has(path: string): boolean {
    return this.files.has(path) || this.#folders.has(path);
  }

  /** Puts a layer on top. A package that the file below held in the same version keeps its layer. */
  apply({ added, removed, emptied }: LayerChanges): void {
    const before = new Map<string, FileRecord>();
    const take = (path: string, record: FileRecord): void => {
      before.set(path, record);
      this.#delete(path);
    };
    for (const path of added.keys()) {
      const record = this.files.get(path);
      if (record !== undefined) take(path, record);
    }
    if (removed.size > 0 || emptied.size > 0)
      for (const [path, record] of this.files) if (isHidden(path, removed, emptied)) take(path, record);
    for (const [path, record] of added) {
      const layers = new Map(before.get(path)?.packages.map((each) => [identityOf(each), each.layer]));
      for (const each of record.packages) each.layer = layers.get(identityOf(each)) ?? each.layer;
      this.#add(path, record);
    }
  }

  #add(path: string, record: FileRecord): void {
    this.files.set(path, record);
    for (const folder of foldersOf(path)) this.#folders.set(folder, (this.#folders.get(folder) ?? 0) + 1);
    if (this.#folders.size > this.#maxFolders)
      throw new CatalogError(`files with packages lie in more than ${this.#maxFolders} folders`);
  }

  #delete(path: string): void {
    this.files.delete(path);
    for (const folder of foldersOf(path)) {
      const left = (this.#folders.get(folder) ?? 0) - 1;
      if (left > 0) this.#folders.set(folder, left);
      else this.#folders.delete(folder);
    }
  }
}

function identityOf({ type, namespace, name, version, architecture, inner }: FoundPackage): string {
  return JSON.stringify([type, namespace, name, version, architecture, inner]);
}

function isHidden(path: string, removed: ReadonlySet<string>, emptied: ReadonlySet<string>): boolean {
  if (removed.size === 0 && emptied.size === 0) return false;
  if (removed.has(path) || emptied.has("")) return true;
  for (const folder of foldersOf(path)) if (removed.has(folder) || emptied.has(folder)) return true;
  return false;
}

function* foldersOf(path: string): Generator<string> {
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) yield path.slice(0, at);
}
