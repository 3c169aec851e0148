import { compareDigits, compareLists, compareNaturally, type Sign } from "./text.ts";

const VERSION = /^\s*[0-9]+(?:[.-][0-9]+)*\s*$/;

/**
 * The order of versions of R: numbers between dots and hyphens, which are the same. Of two versions that begin alike,
 * the shorter one is earlier: 1.0 before 1.0.0. What is not a version stands before all that is; of two such, runs of
 * digits compare as numbers. Source: R's documentation of numeric_version and package_version.
 */
export function compareCran(a: string, b: string): Sign {
  const [isOne, isTwo] = [isCranVersion(a), isCranVersion(b)];
  if (!isOne || !isTwo) return Number(isOne) - Number(isTwo) || compareNaturally(a, b);
  const [one, two] = [a, b].map((each) => each.trim().split(/[.-]/)) as [string[], string[]];
  const shared = Math.min(one.length, two.length);
  return compareLists(one.slice(0, shared), two.slice(0, shared), "", compareDigits) || one.length - two.length;
}

/** Whether R takes the text for a version. */
export function isCranVersion(text: string): boolean {
  return VERSION.test(text);
}
