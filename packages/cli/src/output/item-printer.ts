// The formats that print items one by one.
import type { PathOf } from "../api/uid-paths.ts";
import type { JsonObject } from "../api/rest.ts";
import { printableLines } from "../printable.ts";
import { isColored } from "./color.ts";
import { csvHeaders, csvLine } from "./csv.ts";
import type { Format } from "./format.ts";
import type { Listing } from "./listing.ts";
import type { Writer } from "./writer.ts";

/** Prints items below those that were printed before. */
export type PrintItems = (items: readonly JsonObject[]) => Promise<void>;

/** What is printed, and where. */
export interface Printing {
  readonly listing: Listing;
  readonly writer: Writer;
  readonly pathOf: PathOf;
  /** Whether there is a line of headers. */
  readonly headers: boolean;
}

/**
 * Prints items in a format: a row or a line each; as JSON a line each, as YAML a document each, and what `jsonpath`,
 * `template` and `jq` select of each.
 */
export async function itemPrinter(format: Format, printing: Printing): Promise<PrintItems> {
  const { listing, writer, pathOf } = printing;
  const lines = (textsOf: (items: readonly JsonObject[]) => readonly string[] | Promise<string[]>): PrintItems => {
    return async (items) => printData(writer, (await textsOf(items)).map((line) => `${line}\n`).join(""));
  };
  switch (format.kind) {
    case "table":
    case "wide":
      return tablePrinter(printing, format.kind === "wide");
    case "csv":
      return csvPrinter(printing);
    case "name":
      return lines((items) => Promise.all(items.map((item) => listing.nameOf(item, pathOf))));
    case "id":
      return lines((items) => items.map(listing.idOf));
    case "json": {
      const { jsonLine } = await import("./json.ts");
      return async (items) => writer.write(items.map((item) => `${jsonLine(item)}\n`).join(""));
    }
    case "yaml": {
      const { yamlText } = await import("./yaml.ts");
      return async (items) => writer.write(items.map((item) => `---\n${yamlText(item)}`).join(""));
    }
    default: {
      const select = await selectorOf(format);
      return async (items) => printData(writer, items.map(select).join(""));
    }
  }
}

async function tablePrinter({ listing, writer, pathOf, headers }: Printing, wide: boolean): Promise<PrintItems> {
  const { formOf, rowsOf, shownColumns, Table } = await import("./table.ts");
  const style = { ...styleOf(writer), wide, headers };
  const columns = shownColumns(listing, wide);
  const table = new Table(columns, style);
  return async (items) => writer.write(table.lines(await rowsOf(items, columns, formOf(style), Date.now(), pathOf)));
}

async function csvPrinter({ listing, writer, pathOf, headers }: Printing): Promise<PrintItems> {
  const { rowsOf, shownColumns } = await import("./table.ts");
  const columns = shownColumns(listing, true);
  if (headers) await writer.write(csvLine(csvHeaders(columns)));
  return async (items) => {
    const rows = await rowsOf(items, columns, "raw", Date.now(), pathOf);
    await printData(writer, rows.map(({ cells }) => csvLine(cells)).join(""));
  };
}

/** How tables and details look on this output. */
export function styleOf({ isTTY, columns }: Writer): { terminal: boolean; columns: number; colored: boolean } {
  return { terminal: isTTY, columns, colored: isColored(process.stdout) };
}

/** Texts of servers are printed as they are to programs, without control characters to terminals. */
export async function printData(writer: Writer, text: string): Promise<void> {
  await writer.write(writer.isTTY ? printableLines(text) : text);
}

/** What an expression selects of a document. */
export async function selectorOf(format: Format): Promise<(document: JsonObject) => string> {
  const { jsonPathSelector, templateSelector, jqSelector } = await import("./expressions.ts");
  const expression = "expression" in format ? format.expression : "";
  if (format.kind === "jsonpath") return jsonPathSelector(expression);
  return format.kind === "template" ? templateSelector(expression) : jqSelector(expression);
}
