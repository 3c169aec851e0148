import { compareSemver, parsed } from "./semver.ts";
import { compareDigits, compareLists, compareText, endOfRun, isDigit, type Sign } from "./text.ts";

/**
 * The order of versions of Dart's pub: that of `compareSemver`, and of versions that are the same by that the one with
 * build metadata is later; metadata compares as pre-releases do. Source: Dart's documentation, "Package versioning",
 * and that of the package pub_semver.
 */
export function comparePub(a: string, b: string): Sign {
  const difference = compareSemver(a, b);
  if (difference !== 0) return difference;
  return compareLists(buildOf(a), buildOf(b), "", (one, two) => {
    if (one === "" || two === "") return Number(one !== "") - Number(two !== "");
    const [isNumber, isOther] = [isNumeric(one), isNumeric(two)];
    return Number(isOther) - Number(isNumber) || (isNumber ? compareDigits(one, two) : compareText(one, two));
  });
}

function buildOf(version: string): readonly string[] {
  return parsed(version)?.build ?? [];
}

function isNumeric(part: string): boolean {
  return endOfRun(part, 0, isDigit) === part.length;
}
