// Prints what the API answers: data on standard output in the format of `-o`, words on standard error.
import type { Command } from "commander";
import type { JsonObject } from "../api/rest.ts";
import { printableLines } from "../printable.ts";
import { blocksOf } from "./blocks.ts";
import { isColoured } from "./colour.ts";
import { csvHeaders, csvLine } from "./csv.ts";
import { checkedFormat, type Format, formatOf, FORMATS } from "./format.ts";
import { jsonText, printJsonList } from "./json.ts";
import { type ListExtra, type Listing, uidAsPath, wordsOf } from "./listing.ts";
import { createWriter, type Writer } from "./writer.ts";

export type { Column, Listing, ListExtra } from "./listing.ts";

/** The flags of commands that print data. */
export interface OutputFlags {
  /** A format; see `FORMATS`. */
  output?: string;
  /** A filter of jq. */
  jq?: string;
  /** Whether tables and CSV have a line of headers; they do unless it is false. */
  headers?: boolean;
  /** The context whose format is used where none is named. */
  context?: string;
}

// So many rows are held to know how wide columns must be, and so many names are looked up together.
const ROWS_IN_BLOCK = 250;

/** Adds `-o`, `--jq` and `--no-headers`. */
export function addOutputOptions(command: Command): Command {
  return command
    .option("-o, --output <format>", `one of ${FORMATS} (MOORAGE_OUTPUT; default: table)`, checkedFormat)
    .option("--jq <filter>", "print what this filter of jq selects of the JSON")
    .option("--no-headers", "print tables and CSV without the line of headers");
}

/**
 * Prints a list while it comes. JSON and YAML are the API's list with all items; `jsonpath` and `--jq` apply to that
 * whole list, which they hold in memory, and `template` to each item.
 */
export async function printList(
  items: AsyncIterable<JsonObject>,
  listing: Listing,
  flags: OutputFlags,
  { totalCount = () => undefined, pathOf = uidAsPath }: ListExtra = {},
): Promise<void> {
  const format = formatOf(flags);
  const writer = createWriter();
  switch (format.kind) {
    case "table":
    case "wide":
    case "csv": {
      const { shownColumns, rowsOf, formOf, Table } = await import("./table.ts");
      const csv = format.kind === "csv";
      const style = { ...styleOf(writer), wide: format.kind !== "table", headers: flags.headers !== false };
      const columns = shownColumns(listing, style.wide);
      const table = new Table(columns, style);
      if (csv && style.headers) await writer.write(csvLine(csvHeaders(columns)));
      let empty = true;
      for await (const block of blocksOf(items, ROWS_IN_BLOCK)) {
        const rows = await rowsOf(block, columns, csv ? "raw" : formOf(style), style.nowMs, pathOf);
        await print(writer, csv ? rows.map(({ cells }) => csvLine(cells)).join("") : table.lines(rows), !csv);
        empty = false;
      }
      if (empty && !csv) printMessage(`no ${wordsOf(listing.field)}`);
      break;
    }
    case "name":
      for await (const block of blocksOf(items, ROWS_IN_BLOCK)) {
        const names = await Promise.all(block.map((item) => listing.nameOf(item, pathOf)));
        await print(writer, names.map((name) => `${name}\n`).join(""));
      }
      break;
    case "id":
      for await (const item of items) await print(writer, `${listing.idOf(item)}\n`);
      break;
    case "json":
      await printJsonList(items, listing.field, writer, totalCount);
      break;
    case "yaml":
      await (await import("./yaml.ts")).printYamlList(items, listing.field, writer, totalCount);
      break;
    case "template": {
      const select = await selectorOf(format);
      for await (const item of items) await print(writer, select(item));
      break;
    }
    default: {
      const select = await selectorOf(format);
      const all: JsonObject[] = [];
      for await (const item of items) all.push(item);
      const total = totalCount();
      await print(writer, select({ [listing.field]: all, ...(total !== undefined && { totalCount: total }) }));
    }
  }
  await writer.flush();
}

/** Prints one resource. As a table it is a line for each field. */
export async function printItem(
  item: JsonObject,
  listing: Listing,
  flags: OutputFlags,
  { pathOf = uidAsPath }: Pick<ListExtra, "pathOf"> = {},
): Promise<void> {
  const format = formatOf(flags);
  const writer = createWriter();
  switch (format.kind) {
    case "table":
    case "wide": {
      const { detailLines } = await import("./details.ts");
      const lines = detailLines(item, styleOf(writer));
      await writer.write(lines.map((line) => `${line}\n`).join(""));
      break;
    }
    case "csv": {
      const { shownColumns, rowsOf } = await import("./table.ts");
      const columns = shownColumns(listing, true);
      if (flags.headers !== false) await writer.write(csvLine(csvHeaders(columns)));
      const rows = await rowsOf([item], columns, "raw", Date.now(), pathOf);
      await print(writer, rows.map(({ cells }) => csvLine(cells)).join(""));
      break;
    }
    case "name":
      await print(writer, `${await listing.nameOf(item, pathOf)}\n`);
      break;
    case "id":
      await print(writer, `${listing.idOf(item)}\n`);
      break;
    case "json":
      await writer.write(`${jsonText(item)}\n`);
      break;
    case "yaml":
      await writer.write((await import("./yaml.ts")).yamlText(item));
      break;
    default:
      await print(writer, (await selectorOf(format))(item));
  }
  await writer.flush();
}

/** Prints words for people, on standard error. */
export function printMessage(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

/** Texts of servers are printed as they are to programs, without control characters to terminals. */
async function print(writer: Writer, text: string, clean = false): Promise<void> {
  await writer.write(writer.isTTY && !clean ? printableLines(text) : text);
}

function styleOf({ isTTY, columns }: Writer): {
  terminal: boolean;
  columns: number;
  coloured: boolean;
  nowMs: number;
} {
  return { terminal: isTTY, columns, coloured: isColoured(process.stdout), nowMs: Date.now() };
}

async function selectorOf(format: Format): Promise<(document: JsonObject) => string> {
  const { jsonPathSelector, templateSelector, jqSelector } = await import("./expressions.ts");
  const expression = "expression" in format ? format.expression : "";
  if (format.kind === "jsonpath") return jsonPathSelector(expression);
  return format.kind === "template" ? templateSelector(expression) : jqSelector(expression);
}
