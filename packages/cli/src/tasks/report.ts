// Answers that people read better as sentences and several tables than as one table.
import type { JsonObject } from "../api/rest.ts";
import { type Color, isColored, paint } from "../output/color.ts";
import { cellText } from "../output/cells.ts";
import { formatOf } from "../output/format.ts";
import type { Column, Listing } from "../output/listing.ts";
import { type OutputFlags, printItem } from "../output/output.ts";
import { formOf, rowsOf, shownColumns, Table } from "../output/table.ts";
import { wrapped } from "../output/wrap.ts";
import { createWriter } from "../output/writer.ts";
import { uidAsPath } from "../output/listing.ts";
import type { PathOf } from "../api/uid-paths.ts";
import { printable } from "../printable.ts";

/** What a report is written with. */
export interface Pen {
  /** The text in a color, if there are colors. Control characters of what servers say are taken out. */
  ink(text: string, color?: Color): string;
  /** The lines of a table; none without items. */
  table(columns: readonly Column[], items: readonly JsonObject[], headers?: boolean): Promise<string>;
  /** A digest: its beginning on a terminal, whole elsewhere and in `-o wide`. */
  digest(text: string): string;
  /** The text in lines that end with words, where a terminal is narrower; lines after the first are indented. */
  wrap(text: string, indent?: string): string;
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
  const colored = isColored(process.stdout);
  const style = {
    wide: kind === "wide",
    headers: flags.headers !== false,
    terminal: writer.isTTY,
    columns: writer.columns,
    colored,
    nowMs: Date.now(),
  };
  await writer.write(
    await text({
      ink: (words, color) => (colored ? paint(printable(words), color) : printable(words)),
      digest: (digest) => cellText(digest, "digest", formOf(style), style.nowMs),
      wrap: (words, indent = "") => wrapped(printable(words), style.columns, indent).join("\n"),
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
