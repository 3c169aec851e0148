import { isObject, parseJson } from "../../../lib/json.ts";
import type { FileReader } from "../types.ts";

const MAX_VALUES = 1_000_000;
const PATH = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;

/** Installed npm packages. Source: package.json of npm. */
export const npmReader: FileReader = {
  name: "npm",
  maxBytes: 4 * 1024 * 1024,
  wants: (path) => path.endsWith("/package.json") && PATH.test(path),
  read(file, packages) {
    const json = parseJson(file.text().replace(/^\uFEFF/, ""), 64, MAX_VALUES);
    if (!isObject(json) || typeof json["name"] !== "string" || typeof json["version"] !== "string") return {};
    const [, scope, name] = /^(?:(@[^/\s]+)\/)?([^/\s]+)$/.exec(json["name"]) ?? [];
    if (name === undefined || json["version"] === "") return {};
    const version = json["version"].trim().replace(/^[v=]+/, "");
    const licence = licenceOf(json["license"] ?? json["licenses"]);
    packages.add({ type: "npm", ...(scope === undefined ? {} : { namespace: scope }), name, version, licence });
    return {};
  },
};

/** A text, or as old packages have it `{type}` or a list of these. */
function licenceOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.slice(0, 10).map(licenceOf).filter(Boolean).join(" OR ");
  return isObject(value) && typeof value["type"] === "string" ? value["type"] : "";
}
