import type { FoundPackage } from "../types.ts";
import type { FileReader } from "../reader.ts";
import { paragraphs } from "./paragraphs.ts";

const PATH = /\.(?:dist-info\/METADATA|egg-info\/PKG-INFO|egg-info|egg\/EGG-INFO\/PKG-INFO)$/;
const FIELDS = new Set(["name", "version", "license", "license-expression"]);

/** A license field that is the text of the license is not a name of it. */
const MAX_LICENCE = 200;

/** Installed Python distributions. Source: PyPA, core metadata and "recording installed projects". */
export const pythonReader: FileReader = {
  name: "python",
  maxBytes: 8 * 1024 * 1024,
  wants: (path) => PATH.test(path),
  read(file, packages) {
    const found = pythonPackage(file.text());
    if (found !== undefined) packages.add(found);
    return {};
  },
};

/** The distribution that core metadata is of; undefined for one without a name and a version. */
export function pythonPackage(text: string): FoundPackage | undefined {
  const [fields] = paragraphs(text, FIELDS);
  const [name, version] = [fields?.get("name"), fields?.get("version")];
  if (!name || !version || !/^[\w.-]+$/.test(name)) return undefined;
  const stated = fields?.get("license-expression") ?? fields?.get("license") ?? "";
  const licence = stated.length > MAX_LICENCE || stated.includes("\n") || stated === "UNKNOWN" ? "" : stated;
  return { type: "pypi", name, version, licence };
}
