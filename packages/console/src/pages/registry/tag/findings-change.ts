import { SEVERITY_PLACES, type SeverityCounts } from "../../../lib/severities.ts";

/** How findings differ: `−1 critical, +3 low`; `the same number` where no count does. */
export function changeWords(before: SeverityCounts, after: SeverityCounts): string {
  const places = [
    ...SEVERITY_PLACES.map(([place]) => [place, place] as const),
    ["other", "of other severity"] as const,
  ];
  const words = places.flatMap(([place, word]) => {
    const change = after[place] - before[place];
    return change === 0 ? [] : [`${change > 0 ? "+" : "−"}${Math.abs(change)} ${word}`];
  });
  return words.length === 0 ? "the same number" : words.join(", ");
}
