import { isObject, parseJson } from "../../../lib/json.ts";
import type { FileReader } from "../types.ts";

const PATH = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;

/** Installed npm packages. Source: package.json of npm. */
export const npmReader: FileReader = {
  name: "npm",
  maxBytes: 4 * 1024 * 1024,
  wants: (path) => path.endsWith("/package.json") && PATH.test(path),
  read(file) {
    const json = parseJson(file.text().replace(/^\uFEFF/, ""), 64);
    if (!isObject(json) || typeof json["name"] !== "string" || typeof json["version"] !== "string")
      return { packages: [] };
    const [, scope, name] = /^(?:(@[^/\s]+)\/)?([^/\s]+)$/.exec(json["name"]) ?? [];
    if (name === undefined || json["version"] === "") return { packages: [] };
    const version = json["version"].trim().replace(/^[v=]+/, "");
    const licence = licenceOf(json["license"] ?? json["licenses"]);
    return {
      packages: [{ type: "npm", ...(scope === undefined ? {} : { namespace: scope }), name, version, licence }],
    };
  },
};

/** A text, or as old packages have it `{type}` or a list of these. */
function licenceOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.slice(0, 10).map(licenceOf).filter(Boolean).join(" OR ");
  return isObject(value) && typeof value["type"] === "string" ? value["type"] : "";
}
