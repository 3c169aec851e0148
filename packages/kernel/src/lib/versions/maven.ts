import { compareDigits, compareText, endOfRun, isDigit, type Sign } from "./text.ts";

/**
 * The order of versions of Maven. It takes every text. It is antisymmetric, but not transitive, since the specification
 * is not: 2.9.0.RC1 < 2.9.0 < 2.9.0-1 < 2.9.0.RC1.
 * Source: "Version Order Specification" in the POM reference of Maven 3, as Maven has it before 3.9.
 */
export function compareMaven(a: string, b: string): Sign {
  const [one, two] = [tokensOf(a), tokensOf(b)];
  for (let at = 0; at < Math.max(one.length, two.length); at += 1) {
    const sign = compareTokens(one[at], two[at]);
    if (sign !== 0) return sign;
  }
  return 0;
}

/**
 * Whether the text can be a version in a POM: not empty, none of the characters that Maven rejects, and no expression
 * such as `${revision}`.
 */
export function isMavenVersion(text: string): boolean {
  return /^[^\s[\](),{}:"<>|?*\\/]+$/.test(text);
}

/** Whether the version is one before a release, such as 2.0-rc1 and 2.0-M3. */
export function isMavenPrerelease(version: string): boolean {
  return tokensOf(version).some(({ kind, rank }) => kind < FIRST_KIND_OF_NUMBERS && rank < RANK_OF_RELEASE);
}

export interface Token {
  /** ".qualifier" < "-qualifier" < "-number" < ".number". */
  kind: number;
  /** Of a qualifier, its place among those that are known; of a number 0. */
  rank: number;
  /** Digits, or a qualifier that is not known. */
  value: string;
}

export const FIRST_KIND_OF_NUMBERS = 2;

// From the earliest to the latest; "" is the release.
const QUALIFIERS = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
export const RANK_OF_RELEASE = QUALIFIERS.indexOf("");

const SAME = new Map([
  ["ga", ""],
  ["final", ""],
  ["release", ""],
  ["cr", "rc"],
]);
const BEFORE_DIGITS = new Map([
  ["a", "alpha"],
  ["b", "beta"],
  ["m", "milestone"],
]);

/** Where a version has ended, a token of the same kind that means nothing stands for the missing one. */
function compareTokens(a: Token | undefined, b: Token | undefined): Sign {
  const one = a ?? nothingLike(b);
  const two = b ?? nothingLike(a);
  const isNumber = one.kind >= FIRST_KIND_OF_NUMBERS;
  return one.kind - two.kind || one.rank - two.rank || (isNumber ? compareDigits : compareText)(one.value, two.value);
}

function nothingLike(token: Token | undefined): Token {
  const kind = token?.kind ?? 0;
  return { kind, rank: kind >= FIRST_KIND_OF_NUMBERS ? 0 : RANK_OF_RELEASE, value: "" };
}

/**
 * The tokens, without those that mean nothing at the end and before each hyphen: 1.0.0-x is 1-x. The transition from
 * digits to letters and back is like a hyphen. Nothing between two separators is 0.
 */
export function tokensOf(version: string): Token[] {
  const text = version.toLowerCase();
  const tokens: Token[] = [];
  let at = 0;
  let isAfterDot = true;
  for (;;) {
    const start = at;
    const isWordNext = start < text.length && isWord(text.charCodeAt(start));
    at = endOfRun(text, start, isWordNext ? isWord : isDigit);
    const word = text.slice(start, at);
    if (!isAfterDot) trim(tokens);
    tokens.push(isWordNext ? qualifierOf(word, isAfterDot, isDigit(text.charCodeAt(at))) : numberOf(word, isAfterDot));
    if (at === text.length) break;
    isAfterDot = text[at] === ".";
    if (!isWord(text.charCodeAt(at)) && !isDigit(text.charCodeAt(at))) at += 1;
  }
  trim(tokens);
  return tokens;
}

function numberOf(digits: string, isAfterDot: boolean): Token {
  return { kind: FIRST_KIND_OF_NUMBERS + Number(isAfterDot), rank: 0, value: digits };
}

function qualifierOf(word: string, isAfterDot: boolean, isBeforeDigit: boolean): Token {
  const name = (isBeforeDigit ? BEFORE_DIGITS.get(word) : undefined) ?? SAME.get(word) ?? word;
  const rank = QUALIFIERS.indexOf(name);
  const kind = Number(!isAfterDot);
  return rank < 0 ? { kind, rank: QUALIFIERS.length, value: name } : { kind, rank, value: "" };
}

function trim(tokens: Token[]): void {
  for (let last = tokens.at(-1); last !== undefined && compareTokens(last, undefined) === 0; last = tokens.at(-1))
    tokens.pop();
}

function isWord(unit: number): boolean {
  return !isDigit(unit) && unit !== 0x2e && unit !== 0x2d;
}
