import { compareDigits, compareLists, compareNaturally, type Sign } from "./text.ts";

/** A version as Composer normalizes it. */
interface ComposerVersion {
  /** Four, or the parts of a date. `x` of a branch is the largest number that Composer knows. */
  numbers: string[];
  /** The place among STABILITIES, and the numbers behind it: those of beta2.1 are 2 and 1. */
  stability: number;
  suffix: string[];
  /** Whether it is on the way to a version that has a stability itself, such as 1.0-beta1-dev. */
  isDev: boolean;
}

// From the earliest to the latest. Source: PHP's documentation of version_compare.
const STABILITIES = ["dev", "alpha", "beta", "rc", "stable", "patch"];
const SAME: ReadonlyMap<string, string> = new Map([
  ["a", "alpha"],
  ["b", "beta"],
  ["p", "patch"],
  ["pl", "patch"],
]);
const LARGEST = "9999999";
const PARTS = 4;

const CLASSICAL = /^[0-9]{1,5}(?:\.[0-9]+){0,3}(?![0-9])/;
const DATE = /^[0-9]{4}(?:[.:-]?[0-9]{2}){1,6}(?:[.:-]?[0-9]{1,3}){0,2}(?![0-9])/;
const MODIFIER = /^(?:[._-]?(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?[0-9])*))?([.-]?dev)?$/;
const BRANCH = /^([0-9]+(?:\.(?:[0-9]+|[x*])){0,3})[.-]?dev$/;

/** Published versions are far shorter; longer texts are no versions. */
const MAX_LENGTH = 256;

/**
 * The order of versions of Composer: those that its parser normalizes, as PHP's version_compare has them. What is not
 * such a version stands before all that are, branches such as dev-main among it, which Composer does not compare; of
 * two such, runs of digits compare as numbers. Source: Composer's documentation, "Versions and constraints".
 */
export function compareComposer(a: string, b: string): Sign {
  const [one, two] = [parsed(a), parsed(b)];
  if (one === undefined || two === undefined)
    return Number(one !== undefined) - Number(two !== undefined) || compareNaturally(a, b);
  return (
    compareNumbers(one.numbers, two.numbers) ||
    one.stability - two.stability ||
    compareNumbers(one.suffix, two.suffix) ||
    Number(two.isDev) - Number(one.isDev)
  );
}

/** Whether the text is a version that Composer compares with others. */
export function isComposerVersion(text: string): boolean {
  return parsed(text) !== undefined;
}

/** Of two lists that begin alike, the shorter one is earlier. */
function compareNumbers(a: readonly string[], b: readonly string[]): Sign {
  const shared = Math.min(a.length, b.length);
  return compareLists(a.slice(0, shared), b.slice(0, shared), "", compareDigits) || a.length - b.length;
}

function parsed(text: string): ComposerVersion | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [version = ""] = text.trim().toLowerCase().replace(/^v/, "").split("+", 1);
  const [classical] = CLASSICAL.exec(version) ?? [];
  if (classical !== undefined) {
    const numbers = classical.split(".");
    while (numbers.length < PARTS) numbers.push("0");
    const found = modified(numbers, version.slice(classical.length));
    if (found !== undefined) return found;
  }
  const [date] = DATE.exec(version) ?? [];
  const dated = date === undefined ? undefined : modified(date.split(/[.:-]/), version.slice(date.length));
  return dated ?? branch(version);
}

function modified(numbers: string[], modifier: string): ComposerVersion | undefined {
  const found = MODIFIER.exec(modifier);
  if (found === null) return undefined;
  const [, word, digits = "", dev] = found;
  const isDev = dev !== undefined;
  if (word === undefined)
    return { numbers, stability: STABILITIES.indexOf(isDev ? "dev" : "stable"), suffix: [], isDev };
  const stability = STABILITIES.indexOf(SAME.get(word) ?? word);
  // What is said to be stable is the version itself, whatever stands behind that.
  const suffix = word === "stable" ? [] : digits.split(/[.-]/).filter((each) => each !== "");
  return { numbers, stability: word === "stable" && isDev ? 0 : stability, suffix, isDev };
}

/** The branch of a version, such as 2.1.x-dev: the latest of all that begin so, and on the way to it. */
function branch(version: string): ComposerVersion | undefined {
  const [, text] = BRANCH.exec(version) ?? [];
  if (text === undefined) return undefined;
  const numbers = text.split(".").map((each) => (each === "x" || each === "*" ? LARGEST : each));
  while (numbers.length < PARTS) numbers.push(LARGEST);
  return { numbers, stability: 0, suffix: [], isDev: true };
}
