import { compareDigits, compareLists, compareText, type Sign } from "./text.ts";

/**
 * The order of versions of Alpine and Wolfi:
 * `number{.number}[letter[number]]{_suffix[number]}[~hash][-r[number]]`.
 * It takes every text: what follows the part that has this form is not compared, and puts the text just before the
 * version that this part is. A missing number in the list stands before the list's end.
 * Source: apk-package(5).
 */
export function compareApk(a: string, b: string): Sign {
  const [one, two] = [partsOf(a), partsOf(b)];
  return (
    compareLists(one.numbers, two.numbers, END_OF_NUMBERS, compareNumbers) ||
    compareText(one.letter, two.letter) ||
    compareOptional(one.letterNumber, two.letterNumber) ||
    compareLists(one.suffixes, two.suffixes, END_OF_SUFFIXES, compareSuffixes) ||
    compareText(one.hash, two.hash) ||
    compareOptional(one.revision, two.revision) ||
    Number(one.isComplete) - Number(two.isComplete)
  );
}

/** Whether the text is a version by apk's rules, or has a number behind its letter, as sudo's `1.9.5p2` does. */
export function isApkVersion(text: string): boolean {
  const { numbers, revision, isComplete } = partsOf(text);
  return isComplete && numbers.every(({ digits }) => digits !== "") && revision !== "";
}

/** Suffixes from the earliest to the latest; "" is the version without one. */
const SUFFIXES = ["alpha", "beta", "pre", "rc", "", "cvs", "svn", "git", "hg", "p"];

interface ListedNumber {
  /** Undefined at the end of the list. */
  digits: string | undefined;
  isFirst: boolean;
}

interface Suffix {
  rank: number;
  number: string;
}

interface Parts {
  numbers: ListedNumber[];
  letter: string;
  letterNumber: string | undefined;
  suffixes: Suffix[];
  hash: string;
  revision: string | undefined;
  isComplete: boolean;
}

const END_OF_NUMBERS: ListedNumber = { digits: undefined, isFirst: false };
const END_OF_SUFFIXES: Suffix = { rank: SUFFIXES.indexOf(""), number: "" };

function partsOf(text: string): Parts {
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };
  const numbers = (next(/[0-9.]*/y)?.[0] ?? "").split(".").map((digits, index) => ({ digits, isFirst: index === 0 }));
  const [, letter = "", afterLetter = ""] = next(/([a-z])([0-9]*)/y) ?? [];
  const suffixes: Suffix[] = [];
  for (let found = next(SUFFIX); found !== undefined; found = next(SUFFIX))
    suffixes.push({ rank: SUFFIXES.indexOf(found[1] ?? ""), number: found[2] ?? "" });
  const hash = next(/~[0-9a-f]+/y)?.[0] ?? "";
  const revision = next(/-r([0-9]*)(?![^-])/y)?.[1];
  const letterNumber = afterLetter === "" ? undefined : afterLetter;
  return { numbers, letter, letterNumber, suffixes, hash, revision, isComplete: at === text.length };
}

const SUFFIX = /_(alpha|beta|pre|rc|cvs|svn|git|hg|p)([0-9]*)(?![a-zA-Z0-9])/y;

function compareNumbers(a: ListedNumber, b: ListedNumber): Sign {
  const [one, two] = [rankOf(a), rankOf(b)];
  if (one !== two) return one - two;
  return one === RANK_WITH_ZERO
    ? compareText(a.digits ?? "", b.digits ?? "")
    : compareDigits(a.digits ?? "", b.digits ?? "");
}

const RANK_WITH_ZERO = 2;

/** Numbers behind the first that begin with a zero stand before the others, and compare as texts: 1.01 < 1.1. */
function rankOf({ digits, isFirst }: ListedNumber): number {
  if (digits === "") return 0;
  if (digits === undefined) return 1;
  return !isFirst && digits.startsWith("0") ? RANK_WITH_ZERO : 3;
}

function compareSuffixes(a: Suffix, b: Suffix): Sign {
  return a.rank - b.rank || compareDigits(a.number, b.number);
}

/** A missing number stands before a present one; an empty one is zero. */
function compareOptional(a: string | undefined, b: string | undefined): Sign {
  return Number(a !== undefined) - Number(b !== undefined) || compareDigits(a ?? "", b ?? "");
}
