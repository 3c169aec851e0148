import { compareDigits, compareText, endOfRun, evrOf, isDigit, isLetter, type Sign } from "./text.ts";

/**
 * The order of versions of Debian and Ubuntu: epoch, upstream version and revision. It takes every text; without a
 * number before the first colon the epoch is 0. A missing revision is one of 0.
 * Source: deb-version(7), Debian policy §5.6.12.
 */
export function compareDpkg(a: string, b: string): Sign {
  const [one, two] = [evrOf(a), evrOf(b)];
  return (
    compareDigits(one.epoch, two.epoch) ||
    compareParts(one.version, two.version) ||
    compareParts(one.revision ?? "", two.revision ?? "")
  );
}

/** Whether the text is a version by the rules of deb-version(7). */
export function isDpkgVersion(text: string): boolean {
  const { epoch, version, revision = "" } = evrOf(text);
  const colons = epoch === "" ? "" : ":";
  return (
    /^[0-9]/.test(version) &&
    [...version].every((each) => /[A-Za-z0-9.+~-]/.test(each) || each === colons) &&
    /^[A-Za-z0-9.+~]*$/.test(revision) &&
    !text.endsWith("-")
  );
}

/** Compares by turns what is not digits, character by character, and digits, as numbers. */
function compareParts(a: string, b: string): Sign {
  let [atA, atB] = [0, 0];
  while (atA < a.length || atB < b.length) {
    const [wordA, wordB] = [endOfRun(a, atA, isOther), endOfRun(b, atB, isOther)];
    const sign = compareWords(a.slice(atA, wordA), b.slice(atB, wordB));
    if (sign !== 0) return sign;
    [atA, atB] = [endOfRun(a, wordA, isDigit), endOfRun(b, wordB, isDigit)];
    const difference = compareDigits(a.slice(wordA, atA), b.slice(wordB, atB));
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareWords(a: string, b: string): Sign {
  const length = Math.max(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [one, two] = [a.charCodeAt(at), b.charCodeAt(at)];
    const sign = rankOf(one) - rankOf(two) || (one === two ? 0 : compareText(a[at] ?? "", b[at] ?? ""));
    if (sign !== 0) return sign;
  }
  return 0;
}

/** A tilde stands before the end, the end before letters, and these before all else. */
function rankOf(unit: number): number {
  if (unit === 0x7e) return 0;
  if (Number.isNaN(unit)) return 1;
  return isLetter(unit) ? 2 : 3;
}

function isOther(unit: number): boolean {
  return !isDigit(unit);
}
