/** A value of a cell; undefined for what is not known, which is an empty cell and never 0. */
export type Cell = string | number | bigint | boolean | undefined;

/**
 * Rows as CSV, with CRLF, by RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe:
 * names of tags and labels come from others.
 */
export function csvOf(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

function cellOf(value: Cell): string {
  if (value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
