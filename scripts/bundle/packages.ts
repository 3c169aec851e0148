import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A package of which a bundle has modules: its folder, and what its manifest says. */
export interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; undefined when it says none. */
  readonly license: string | undefined;
  readonly author: string | undefined;
}

interface Manifest {
  name?: string;
  version?: string;
  license?: string;
  author?: string | { name?: string };
}

/** The packages that the modules at these paths are of, each once, by name. Modules of this repository have none. */
export function packagesOf(modules: Iterable<string>): BundledPackage[] {
  const folders = new Set([...modules].filter((path) => path.includes("/node_modules/")).map(folderOf));
  return [...folders].map(packageIn).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** The folder of the package: the nearest above the module whose manifest has a name and a version. */
function folderOf(module: string): string {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    if (!existsSync(join(folder, "package.json"))) continue;
    const { name, version } = manifestIn(folder);
    if (name && version) return folder;
  }
}

function packageIn(folder: string): BundledPackage {
  const { name = "", version = "", license, author } = manifestIn(folder);
  return { folder, name, version, license, author: typeof author === "string" ? author : author?.name };
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function keyOf({ name, version }: BundledPackage): string {
  return `${name} ${version}`;
}
