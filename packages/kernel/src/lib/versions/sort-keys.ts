import { isDigit } from "./text.ts";
import { parsed } from "./semver.ts";

/** More digits than a number of one letter's length has. */
const LONG_LENGTH = 25;
const LONG_DIGITS = 4;

/**
 * A number that is written in decimal digits, as a text: of two such texts the one that is smaller byte by byte is that
 * of the smaller number. It begins with a letter, `a` for zero, and has at most 9,999 digits; longer ones are cut.
 */
export function numberKey(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start += 1;
  const significant = digits.slice(start, start + 9_999);
  return significant.length < LONG_LENGTH
    ? `${String.fromCharCode(0x61 + significant.length)}${significant}`
    : `z${String(significant.length).padStart(LONG_DIGITS, "0")}${significant}`;
}

/**
 * A text for each version whose order, byte by byte, is the order of `compareSemver`, but that what is no version
 * stands before all that is in the order of its characters.
 */
export function semverKey(version: string): string {
  const found = parsed(version);
  if (found === null) return `!${version}`;
  const numbers = [found.major, found.minor, found.patch].map((part) => numberKey(String(part))).join("");
  if (found.prerelease.length === 0) return `v${numbers}~`;
  // Each identifier ends with a space, which is smaller than its characters: fewer identifiers are earlier.
  const identifiers = found.prerelease.map((part) => {
    const text = String(part);
    const isNumber = [...text].every((letter) => isDigit(letter.charCodeAt(0)));
    return isNumber ? `1${numberKey(text)} ` : `2${text} `;
  });
  return `v${numbers}${identifiers.join("")}`;
}
