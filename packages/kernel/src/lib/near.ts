// Names that are near to one that is not there.

const MAX_SHOWN = 3;

/** The known names nearest to the wrong one, nearest first; none when all are far. Case is not compared. */
export function nearest(wrong: string, known: readonly string[]): string[] {
  const most = Math.max(1, Math.floor(wrong.length / 4));
  const measured = [...new Set(known)]
    .map((name) => ({ name, edits: editsBetween(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= most)
    .toSorted((one, other) => one.edits - other.edits);
  const least = measured[0]?.edits ?? 0;
  return measured
    .filter(({ edits }) => edits === least)
    .slice(0, MAX_SHOWN)
    .map(({ name }) => name);
}

/** How many letters must be inserted, removed, replaced or swapped with the next one. Source: Damerau–Levenshtein. */
function editsBetween(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + cost,
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? 0;
}
