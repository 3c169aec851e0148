// Comma-separated values. Source: RFC 4180.
import type { Column } from "./listing.ts";

/**
 * A line with its CRLF. Values are never changed: one that begins with `=` stays as it is, which a spreadsheet takes
 * for a formula unless the column is imported as text.
 */
export function csvLine(values: readonly string[]): string {
  return `${values.map(quoted).join(",")}\r\n`;
}

/** The headers: `LAST SEEN` is `last_seen`. */
export function csvHeaders(columns: readonly Column[]): string[] {
  return columns.map(({ header }) => header.toLowerCase().replaceAll(" ", "_"));
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
