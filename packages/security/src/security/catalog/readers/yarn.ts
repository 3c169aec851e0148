import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FoundPackages } from "../budget.ts";
import type { FileReader } from "../reader.ts";
import { npmName, npmPackage } from "./npm.ts";
import { pnpData } from "./pnp-data.ts";
import { zipTexts } from "./zip-texts.ts";

const ARCHIVE = /(?:^|\/)\.yarn\/(?:berry\/)?cache\/[^/]+\.zip$/;
const MANIFEST = /^node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;
const PNP = /(?:^|\/)\.pnp\.(?:cjs|js|data\.json)$/;
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MAX_VALUES = 4_000_000;
const ZIP = Buffer.from("PK");

/** `npm:1.2.3`, perhaps of a virtual package, with parameters behind it. */
const REGISTRY = /^(?:virtual:[^#]*#)?npm:([^:@#]+)(?:::.*)?$/;

/** A package of the registry that was patched, whose version stands among the parameters. */
const PATCH = /^(?:virtual:[^#]*#)?patch:/;
const VERSION = "version=";

/**
 * Packages of npm that Yarn runs from archives: each archive of its cache, and the map by which programs find what is
 * in these. What that has from elsewhere than a registry is in its archive alone. Source: Yarn's documentation,
 * "Plug'n'Play".
 */
export const yarnReaders: readonly FileReader[] = [
  {
    name: "npm",
    maxBytes: 512 * 1024 * 1024,
    wants: (path) => path.endsWith(".zip") && ARCHIVE.test(path),
    accepts: (head) => head.subarray(0, ZIP.length).equals(ZIP),
    async read(file, packages) {
      let isAny = false;
      const texts = { wants: (name: string) => MANIFEST.test(name), maxBytes: MAX_TEXT_BYTES };
      for await (const { text } of zipTexts(file, packages, texts)) {
        const found = npmPackage(text);
        if (found === undefined) continue;
        isAny = true;
        packages.add(found);
      }
      return isAny ? {} : { unread: "it has no package.json that states a name and a version" };
    },
  },
  {
    name: "npm",
    maxBytes: 64 * 1024 * 1024,
    wants: (path) => path.includes(".pnp.") && PNP.test(path),
    read(file, packages, path) {
      const text = file.text();
      const data = path.endsWith(".json") ? text : pnpData(text);
      if (data !== undefined) addRegistryPackages(parseJson(data, 64, MAX_VALUES), packages);
      // Otherwise the map lies in the file beside it.
      else if (!text.includes(".pnp.data.json")) return { unread: "it has no map of packages" };
      return {};
    },
  },
];

/** `packageRegistryData`: `[[name, [[reference, {…}], …]], …]`. */
function addRegistryPackages(json: unknown, packages: FoundPackages): void {
  const registry = isObject(json) ? json["packageRegistryData"] : undefined;
  if (!Array.isArray(registry)) throw new Error("it has no packageRegistryData");
  for (const [ident, stores] of registry.filter((each): each is unknown[] => Array.isArray(each))) {
    const named = typeof ident === "string" ? npmName(ident) : undefined;
    if (named === undefined || !Array.isArray(stores)) continue;
    const versions = new Set<string>();
    for (const [reference] of stores.filter((each): each is unknown[] => Array.isArray(each)))
      if (typeof reference === "string") versions.add(versionOf(reference));
    versions.delete("");
    for (const version of versions) packages.add({ type: "npm", ...named, version });
  }
}

function versionOf(reference: string): string {
  const [, version = ""] = REGISTRY.exec(reference) ?? [];
  if (!PATCH.test(reference)) return version;
  const parameters = reference.slice(reference.lastIndexOf("::") + 2).split("&");
  return parameters.find((each) => each.startsWith(VERSION))?.slice(VERSION.length) ?? "";
}
