import { compare, parse, type SemVer } from "semver";
import { compareNaturally, type Sign } from "./text.ts";

/**
 * The order of Semantic Versioning 2.0.0 §11, for npm, crates.io and Go. A `v` before the version and missing parts
 * (1.2 for 1.2.0) are allowed. What is not a version stands before all that is; of two such, runs of digits compare as
 * numbers. More than 256 characters, or numbers above 2^53, are no version, as npm has it.
 */
export function compareSemver(a: string, b: string): Sign {
  const [one, two] = [parsed(a), parsed(b)];
  if (one !== null && two !== null) return compare(one, two);
  return Number(one !== null) - Number(two !== null) || compareNaturally(a, b);
}

/** Whether the text is a version for `compareSemver`. */
export function isSemver(text: string): boolean {
  return parsed(text) !== null;
}

/** The version that the text is, as `compareSemver` reads it; null when it is none. */
export function parsed(text: string): SemVer | null {
  const [, numbers, rest = ""] = /^\s*v?([0-9]+(?:\.[0-9]+)?)(?=[-+]|\s*$)(.*)$/s.exec(text) ?? [];
  if (numbers === undefined) return parse(text);
  return parse(`${numbers}${numbers.includes(".") ? ".0" : ".0.0"}${rest}`);
}
