import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FoundPackage } from "../types.ts";
import type { FileReader } from "../reader.ts";

const MAX_VALUES = 1_000_000;
const PATH = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;

/** Installed npm packages. Source: package.json of npm. */
export const npmReader: FileReader = {
  name: "npm",
  maxBytes: 4 * 1024 * 1024,
  wants: (path) => path.endsWith("/package.json") && PATH.test(path),
  read(file, packages) {
    const found = npmPackage(file.text());
    if (found !== undefined) packages.add(found);
    return {};
  },
};

/** The package of a package.json; undefined for one without a name and a version. Throws when it is no JSON. */
export function npmPackage(text: string): FoundPackage | undefined {
  const json = parseJson(text.replace(/^\uFEFF/, ""), 64, MAX_VALUES);
  if (!isObject(json) || typeof json["name"] !== "string" || typeof json["version"] !== "string") return undefined;
  const named = npmName(json["name"]);
  if (named === undefined || json["version"] === "") return undefined;
  const version = json["version"].trim().replace(/^[v=]+/, "");
  return { type: "npm", ...named, version, licence: licenceOf(json["license"] ?? json["licenses"]) };
}

/** The scope and the name of a package; undefined for a text that is no name. */
export function npmName(text: string): Pick<FoundPackage, "namespace" | "name"> | undefined {
  const [, scope, name] = /^(?:(@[^/\s]+)\/)?([^/\s]+)$/.exec(text) ?? [];
  return name === undefined ? undefined : { ...(scope !== undefined && { namespace: scope }), name };
}

/** A text, or as old packages have it `{type}` or a list of these. */
function licenceOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.slice(0, 10).map(licenceOf).filter(Boolean).join(" OR ");
  return isObject(value) && typeof value["type"] === "string" ? value["type"] : "";
}
