import { compareDigits, compareLists, compareNaturally, compareText, endOfRun, isDigit, type Sign } from "./text.ts";

const VERSION = /^\s*[0-9]+(?:\.[0-9]+){0,3}(?:-[0-9a-z-]+(?:\.[0-9a-z-]+)*)?(?:\+[0-9a-z-]+(?:\.[0-9a-z-]+)*)?\s*$/i;

/**
 * The order of versions of NuGet: up to four numbers, of which those that are missing are 0, and behind them what
 * Semantic Versioning 2.0.0 has for pre-releases, without regard to case. What is not a version stands before all that
 * is; of two such, runs of digits compare as numbers. Source: NuGet's documentation, "Package versioning".
 */
export function compareNuget(a: string, b: string): Sign {
  const [isOne, isTwo] = [isNugetVersion(a), isNugetVersion(b)];
  if (!isOne || !isTwo) return Number(isOne) - Number(isTwo) || compareNaturally(a, b);
  const [one, two] = [partsOf(a), partsOf(b)];
  return compareLists(one.numbers, two.numbers, "0", compareDigits) || comparePrereleases(one.labels, two.labels);
}

/** Whether NuGet takes the text for a version. */
export function isNugetVersion(text: string): boolean {
  return VERSION.test(text);
}

function partsOf(version: string): { numbers: string[]; labels: string[] } {
  const [text = ""] = version.trim().toLowerCase().split("+", 1);
  const hyphen = text.indexOf("-");
  return {
    numbers: (hyphen < 0 ? text : text.slice(0, hyphen)).split("."),
    labels: hyphen < 0 ? [] : text.slice(hyphen + 1).split("."),
  };
}

/** Source: Semantic Versioning 2.0.0, 11. */
function comparePrereleases(a: readonly string[], b: readonly string[]): Sign {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  return compareLists(a, b, "", (one, two) => {
    if (one === "" || two === "") return Number(one !== "") - Number(two !== "");
    const [isNumber, isOther] = [isNumeric(one), isNumeric(two)];
    return Number(isOther) - Number(isNumber) || (isNumber ? compareDigits(one, two) : compareText(one, two));
  });
}

function isNumeric(label: string): boolean {
  return endOfRun(label, 0, isDigit) === label.length;
}
