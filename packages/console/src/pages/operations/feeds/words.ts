import { durationWords } from "../../../lib/durations.ts";
import type { Feed } from "../../../api/gen/operations.ts";
import { count } from "../../../lib/bytes.ts";

// The formats whose records are about packages.
const MATCHED: ReadonlySet<string> = new Set(["osv", "alpine-secdb", "debian-tracker"]);

/** What a feed covers, of what it has some records, and what of it is not matched: ecosystems and releases. */
export function coverageText({ format, coverage, coverageKnown }: Feed): string {
  if (!MATCHED.has(format)) return "CVEs, or products";
  if (!coverageKnown) return "not known";
  const those = (is: (each: Feed["coverage"][number]) => boolean): string =>
    coverage
      .filter(is)
      .map(({ space }) => space)
      .join(", ");
  const some = those(({ isMatched, isCovered }) => isMatched && !isCovered);
  const unmatched = those(({ isMatched }) => !isMatched);
  const parts = [
    those(({ isCovered }) => isCovered),
    some === "" ? "" : `some records: ${some}`,
    unmatched === "" ? "" : `not matched: ${unmatched}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "nothing yet" : parts.join("; ");
}

/** How many records match nothing, as far as that is known. */
export function unmatchedText({ format, coverageKnown, unmatched }: Feed): string {
  return coverageKnown || !MATCHED.has(format) ? count(unmatched) : "not known";
}

/** How often a feed is fetched. */
export function intervalText({ address, interval }: Pick<Feed, "address" | "interval">): string {
  return address === "" ? "only imported" : `every ${durationWords(interval)}`;
}
