const MAX_LETTERS = 200;

/**
 * How many letters have to be put in, taken out, changed or swapped with the next one to make one text of the other.
 * Source: Damerau and Levenshtein, with each letter moved once at most.
 */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  let before: number[] = [];
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}

/** The name that is nearest to the wanted one, if it is a third of its letters away at most. */
export function nearestOf(wanted: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(Math.floor((wanted.split("/").at(-1)?.length ?? 0) / 3), 1) + 1;
  for (const name of names) {
    const apart = distance(wanted.slice(0, MAX_LETTERS), name.slice(0, MAX_LETTERS));
    if (apart < least) [best, least] = [name, apart];
  }
  return best;
}
