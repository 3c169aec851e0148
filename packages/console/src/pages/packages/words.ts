import type { Ecosystem } from "../../api/gen/libraries.ts";

/** The ecosystems by what people call their registries, in the order in which they are offered. */
export const ECOSYSTEMS: readonly (readonly [Ecosystem, string])[] = [
  ["ECOSYSTEM_JAVASCRIPT", "npm"],
  ["ECOSYSTEM_PYTHON", "PyPI"],
  ["ECOSYSTEM_JAVA", "Maven"],
];

/** All of them: the API lists the packages of the ecosystems that it is asked for. */
export const ALL_ECOSYSTEMS: Ecosystem[] = ECOSYSTEMS.map(([id]) => id);

/** Such as `npm`. */
export function ecosystemWord(ecosystem: Ecosystem): string {
  return ECOSYSTEMS.find(([id]) => id === ecosystem)?.[1] ?? "other";
}
