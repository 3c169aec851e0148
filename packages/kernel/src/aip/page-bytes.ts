/**
 * What the rows of one page take together, as they are stored: more of them would hold up everybody while they are read
 * and written as an answer. A page has a row in any case.
 */
export const MAX_PAGE_BYTES = 512 * 1024;

/**
 * The first rows, as many as a page may have by their size. `bytesOf`: what a row takes; by default what is in its
 * columns, be it an object or an array.
 */
export function fitting<R>(rows: readonly R[], bytesOf: (row: R) => number = storedBytes): R[] {
  let bytes = 0;
  const end = rows.findIndex((row, at) => (bytes += bytesOf(row)) > MAX_PAGE_BYTES && at > 0);
  return rows.slice(0, end < 0 ? rows.length : end);
}

/** The length of the texts in the columns of a row; the others take next to nothing. */
function storedBytes(row: unknown): number {
  let bytes = 0;
  for (const value of Array.isArray(row) ? (row as unknown[]) : Object.values(row as object))
    if (typeof value === "string") bytes += value.length;
  return bytes;
}
