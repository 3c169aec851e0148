import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FileReader } from "../reader.ts";

const PATH = /(?:^|\/)composer\/installed\.json$/;
const NAME = /^([^/\s]+)\/([^/\s]+)$/;
const MAX_VALUES = 4_000_000;

/**
 * Installed packages of Composer: a list, or since Composer 2 an object that has it. Source: installed.json of
 * Composer, in its vendor directory.
 */
export const composerReader: FileReader = {
  name: "composer",
  maxBytes: 64 * 1024 * 1024,
  wants: (path) => path.endsWith("/installed.json") && PATH.test(path),
  read(file, packages) {
    const json = parseJson(file.text(), 64, MAX_VALUES);
    const listed: unknown = isObject(json) ? json["packages"] : json;
    if (!Array.isArray(listed)) throw new Error("it has no list of packages");
    for (const each of listed as unknown[]) {
      const { name, version, license } = isObject(each) ? each : {};
      const [, namespace, own] = (typeof name === "string" ? NAME.exec(name) : null) ?? [];
      if (namespace === undefined || own === undefined || typeof version !== "string" || version === "")
        packages.leaveOut();
      else packages.add({ type: "composer", namespace, name: own, version, licence: licenceOf(license) });
    }
    return {};
  },
};

/** Of several any may be chosen. */
function licenceOf(value: unknown): string {
  const all = Array.isArray(value) ? (value as unknown[]).slice(0, 10) : [value];
  return all.filter((each) => typeof each === "string").join(" OR ");
}
