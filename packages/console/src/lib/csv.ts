// Spreadsheets take a cell that begins so for a formula. Source: OWASP, "CSV Injection".
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV with its end. Cells that a spreadsheet would take for formulas get a `'` before them. RFC 4180. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

function cellOf(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
