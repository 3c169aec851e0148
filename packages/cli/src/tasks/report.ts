// Answers that people read better as sentences and several tables than as one table.
import type { JsonObject } from "../api/rest.ts";
import { type Colour, isColoured, paint } from "../output/colour.ts";
import { formatOf } from "../output/format.ts";
import type { Column, Listing } from "../output/listing.ts";
import { type OutputFlags, printItem } from "../output/output.ts";
import { formOf, rowsOf, shownColumns, Table } from "../output/table.ts";
import { createWriter } from "../output/writer.ts";
import { uidAsPath } from "../output/listing.ts";
import type { PathOf } from "../api/uid-paths.ts";
import { printable } from "../printable.ts";

/** What a report is written with. */
export interface Pen {
  /** The text in a colour, if there are colours. Control characters of what servers say are taken out. */
  ink(text: string, colour?: Colour): string;
  /** The lines of a table; none without items. */
  table(columns: readonly Column[], items: readonly JsonObject[], headers?: boolean): Promise<string>;
  /** Whether all is to be shown: `-o wide`. */
  readonly wide: boolean;
}

/** A report: its text for people, and what stands for it in all other formats. */
export interface Report {
  item: JsonObject;
  listing: Listing;
  /** The text, with a line break at its end. */
  text(pen: Pen): Promise<string> | string;
}

/** Prints a report: its text where tables are asked for, and otherwise its item as the API has it. */
export async function printReport(
  { item, listing, text }: Report,
  flags: OutputFlags,
  pathOf: PathOf = uidAsPath,
): Promise<void> {
  const { kind } = formatOf(flags);
  if (kind !== "table" && kind !== "wide") return printItem(item, listing, flags, { pathOf });
  const writer = createWriter();
  const coloured = isColoured(process.stdout);
  const style = {
    wide: kind === "wide",
    headers: flags.headers !== false,
    terminal: writer.isTTY,
    columns: writer.columns,
    coloured,
    nowMs: Date.now(),
  };
  await writer.write(
    await text({
      wide: style.wide,
      ink: (words, colour) => (coloured ? paint(printable(words), colour) : printable(words)),
      async table(columns, items, headers = style.headers) {
        if (items.length === 0) return "";
        const shown = shownColumns({ ...listing, columns }, style.wide);
        return new Table(shown, { ...style, headers }).lines(
          await rowsOf(items, shown, formOf(style), style.nowMs, pathOf),
        );
      },
    }),
  );
  await writer.flush();
}

/** Whether tables are printed, and so texts for people. */
export function printsTables(flags: OutputFlags): boolean {
  const { kind } = formatOf(flags);
  return kind === "table" || kind === "wide";
}
