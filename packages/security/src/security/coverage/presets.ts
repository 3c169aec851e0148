import { FEED_PRESETS } from "../feeds/presets.ts";
import { packageKey } from "../matching/package-keys.ts";

// Of a distribution packages are known by a release: one of each form that any of them has.
const RELEASES = ["", ":12", ":v3.20", ":enterprise_linux:9"];

/** The names of presets, by what keys of the packages that they cover begin with. */
const BY_SPACE: ReadonlyMap<string, string> = new Map([
  ...FEED_PRESETS.flatMap(({ name, ecosystems }) =>
    ecosystems.flatMap((ecosystem) =>
      RELEASES.flatMap((release): [string, string][] => {
        const key = packageKey({ ecosystem: ecosystem + release, name: "a/a" });
        return key === undefined ? [] : [[firstOf(key), name]];
      }),
    ),
  ),
  ["ubuntu-pro", "ubuntu"],
]);

/** The name of the preset for a key space such as `npm` or `debian:12`; empty when no preset covers it. */
export function presetFor(space: string): string {
  return BY_SPACE.get(firstOf(space)) ?? "";
}

function firstOf(key: string): string {
  return key.split(/[:/]/, 1)[0] ?? "";
}
