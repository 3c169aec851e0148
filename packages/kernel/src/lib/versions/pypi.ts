import { compare, valid } from "@renovatebot/pep440";
import { compareDigits, compareLists, compareText, isDigit, type Sign } from "./text.ts";

// The library's regular expression needs time that grows with the length; published versions are far shorter.
const MAX_LENGTH = 256;

/**
 * The order of versions of PyPI: PEP 440. What is not a version by it stands before all that is, in the order that
 * setuptools gave to it until version 66. Numbers of more than 15 digits are compared by their first 15.
 */
export function comparePypi(a: string, b: string): Sign {
  const [one, two] = [a.trim(), b.trim()];
  const [isVersion, other] = [isPypiVersion(one), isPypiVersion(two)];
  if (isVersion && other) return compare(one, two);
  return Number(isVersion) - Number(other) || compareLegacy(one, two);
}

/** Whether the text is a version by PEP 440, of at most 256 characters. */
export function isPypiVersion(text: string): boolean {
  return text.length <= MAX_LENGTH && valid(text.trim()) !== null;
}

/**
 * Words stand before numbers. Of the words, those before "final" alphabetically stand before the end of the version,
 * "dev" before all of them, and "rc", "pre" and "preview" are "c". Zeros before the end or before a pre-release mean
 * nothing. Source: the documentation of setuptools 65, pkg_resources.parse_version.
 */
function compareLegacy(a: string, b: string): Sign {
  return compareLists(legacyParts(a), legacyParts(b), END, (one, two) => {
    const [isNumber, other] = [isDigit(one.charCodeAt(0)), isDigit(two.charCodeAt(0))];
    return Number(isNumber) - Number(other) || (isNumber ? compareDigits : compareText)(one, two);
  });
}

const END = "final";
const HYPHEN = "final-";
const SAME = new Map([
  ["pre", "c"],
  ["preview", "c"],
  ["rc", "c"],
  ["dev", "@"],
  ["-", HYPHEN],
]);

function legacyParts(version: string): string[] {
  const parts: string[] = [];
  for (const found of version.toLowerCase().match(/[0-9]+|[a-z]+|-|[^0-9a-z.-]+/g) ?? []) {
    const part = SAME.get(found) ?? found;
    if (!isDigit(part.charCodeAt(0))) {
      if (part < END) trim(parts, (last) => last === HYPHEN);
      trim(parts, isZero);
    }
    parts.push(part);
  }
  trim(parts, isZero);
  return parts;
}

function isZero(part: string): boolean {
  return isDigit(part.charCodeAt(0)) && compareDigits(part, "") === 0;
}

function trim(parts: string[], isRemoved: (last: string) => boolean): void {
  for (let last = parts.at(-1); last !== undefined && isRemoved(last); last = parts.at(-1)) parts.pop();
}
