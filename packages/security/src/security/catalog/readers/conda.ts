import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FileReader } from "../reader.ts";

const PATH = /(?:^|\/)conda-meta\/[^/]+\.json$/;
const MAX_VALUES = 4_000_000;

/** Packages of Conda that are installed in an environment. Source: Conda's documentation, "conda-meta". */
export const condaReader: FileReader = {
  name: "conda",
  maxBytes: 64 * 1024 * 1024,
  wants: (path) => path.endsWith(".json") && PATH.test(path),
  read(file, packages) {
    const json = parseJson(file.text(), 64, MAX_VALUES);
    if (!isObject(json)) throw new Error("it is no object");
    const text = (field: string): string => (typeof json[field] === "string" ? json[field] : "");
    const [name, version, licence] = [text("name"), text("version"), text("license")];
    if (name === "" || version === "") return { unread: "it states neither a name nor a version" };
    packages.add({ type: "conda", name, version, licence });
    return {};
  },
};
