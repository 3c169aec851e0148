import { compareDigits, compareLists, compareNaturally, compareText, isDigit, type Sign } from "./text.ts";

const VERSION = /^\s*[0-9]+(?:\.[0-9a-z]+)*(?:-[0-9a-z-]+(?:\.[0-9a-z-]+)*)?\s*$/i;

/**
 * The order of versions of RubyGems: words stand before numbers, and so before the end of the version. Zeros at the
 * end and before the first word mean nothing. What is not a version stands before all that is; of two such, runs of
 * digits compare as numbers. Source: RubyGems' documentation of Gem::Version.
 */
export function compareRubygems(a: string, b: string): Sign {
  const [isOne, isTwo] = [isRubygemsVersion(a), isRubygemsVersion(b)];
  if (!isOne || !isTwo) return Number(isOne) - Number(isTwo) || compareNaturally(a, b);
  return compareLists(segmentsOf(a), segmentsOf(b), "0", (one, two) => {
    const [isNumber, isOther] = [isNumeric(one), isNumeric(two)];
    return Number(isNumber) - Number(isOther) || (isNumber ? compareDigits(one, two) : compareText(one, two));
  });
}

/** Whether Gem::Version takes the text; an empty one, which it takes for 0, is no version here. */
export function isRubygemsVersion(text: string): boolean {
  return VERSION.test(text);
}

function segmentsOf(version: string): string[] {
  const all = version.replaceAll("-", ".pre.").match(/[0-9]+|[a-z]+/gi) ?? [];
  const word = all.findIndex((each) => !isNumeric(each));
  const cut = word < 0 ? all.length : word;
  return [...withoutZeros(all.slice(0, cut)), ...withoutZeros(all.slice(cut))];
}

function withoutZeros(segments: readonly string[]): string[] {
  return segments.slice(0, segments.findLastIndex((each) => !isNumeric(each) || compareDigits(each, "") !== 0) + 1);
}

function isNumeric(segment: string): boolean {
  return isDigit(segment.charCodeAt(0));
}
