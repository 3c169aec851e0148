import { compareDigits, compareLists, compareText, evrOf, isLetter, type Sign } from "./text.ts";

/**
 * The order of versions of RPM: epoch, version and release. It takes every text; without a number before the first
 * colon the epoch is 0. A missing release stands before every other.
 * Source: rpm-version(7), "Version comparison" in RPM's manual.
 */
export function compareRpm(a: string, b: string): Sign {
  const [one, two] = [evrOf(a), evrOf(b)];
  return (
    compareDigits(one.epoch, two.epoch) ||
    compareSegments(one.version, two.version) ||
    Number(one.revision !== undefined) - Number(two.revision !== undefined) ||
    compareSegments(one.revision ?? "", two.revision ?? "")
  );
}

/** Whether the text is a version by the rules of RPM. */
export function isRpmVersion(text: string): boolean {
  return /^(?:[0-9]+:)?[A-Za-z0-9._+~^]+(?:-[A-Za-z0-9._+~^]+)?$/.test(text);
}

function compareSegments(a: string, b: string): Sign {
  return compareLists(segmentsOf(a), segmentsOf(b), "", (one, two) => {
    const rank = rankOf(one);
    return rank - rankOf(two) || (rank === RANK_OF_NUMBERS ? compareDigits(one, two) : compareText(one, two));
  });
}

/** Runs of digits, runs of letters, tildes and carets. All other characters only separate. */
function segmentsOf(text: string): string[] {
  return text.match(/[0-9]+|[A-Za-z]+|[~^]/g) ?? [];
}

const RANK_OF_NUMBERS = 4;

/** A tilde stands before the end, the end before a caret, that before letters, and these before numbers. */
function rankOf(segment: string): number {
  const unit = segment.charCodeAt(0);
  if (segment === "~") return 0;
  if (segment === "") return 1;
  if (segment === "^") return 2;
  return isLetter(unit) ? 3 : RANK_OF_NUMBERS;
}
