// Prints what the API answers: data on standard output in the format of `-o`, words on standard error.
import { type Command, Option } from "commander";
import type { JsonObject } from "../api/rest.ts";
import { describes } from "../command/completion-sources.ts";
import { printableLines } from "../printable.ts";
import { blocksOf } from "./blocks.ts";
import { checkedFormat, FORMAT_HELP, formatOf, FORMATS } from "./format.ts";
import { itemPrinter, printData, selectorOf, styleOf } from "./item-printer.ts";
import { jsonText, printJsonList } from "./json.ts";
import { type ListExtra, type Listing, uidAsPath, wordsOf } from "./listing.ts";
import { createWriter } from "./writer.ts";

export type { Listing, ListExtra } from "./listing.ts";

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
    .addOption(
      describes(
        new Option("-o, --output <format>", `one of ${FORMATS} (MOORAGE_OUTPUT; default: table)`).argParser(
          checkedFormat,
        ),
        FORMAT_HELP,
      ),
    )
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
  { totalCount = () => undefined, behind = () => ({}), pathOf = uidAsPath }: ListExtra = {},
): Promise<void> {
  const format = formatOf(flags);
  const writer = createWriter();
  const others = (): JsonObject => {
    const total = totalCount();
    return { ...behind(), ...(total !== undefined && { totalCount: total }) };
  };
  switch (format.kind) {
    case "json":
      await printJsonList(items, listing.field, writer, others);
      break;
    case "yaml":
      await (await import("./yaml.ts")).printYamlList(items, listing.field, writer, others);
      break;
    case "jsonpath":
    case "jq": {
      const select = await selectorOf(format);
      const all: JsonObject[] = [];
      for await (const item of items) all.push(item);
      await printData(writer, select({ [listing.field]: all, ...others() }));
      break;
    }
    default: {
      const print = await itemPrinter(format, { listing, writer, pathOf, headers: flags.headers !== false });
      let empty = true;
      for await (const block of blocksOf(items, ROWS_IN_BLOCK)) {
        await print(block);
        empty = false;
      }
      if (empty && (format.kind === "table" || format.kind === "wide")) printMessage(`no ${wordsOf(listing.field)}`);
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
      const lines = detailLines(item, {
        ...styleOf(writer),
        nowMs: Date.now(),
        name: await listing.nameOf(item, pathOf),
      });
      await writer.write(lines.map((line) => `${line}\n`).join(""));
      break;
    }
    case "json":
      await writer.write(`${jsonText(item)}\n`);
      break;
    case "yaml":
      await writer.write((await import("./yaml.ts")).yamlText(item));
      break;
    default:
      await (
        await itemPrinter(format, { listing, writer, pathOf, headers: flags.headers !== false })
      )([item]);
  }
  await writer.flush();
}

/** Prints words for people, on standard error. */
export function printMessage(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}
