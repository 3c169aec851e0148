// `--watch`: asks again and again, and shows what there is or what changed.
import type { JsonObject } from "../api/rest.ts";
import { blocksOf } from "../output/blocks.ts";
import { isColored } from "../output/color.ts";
import { formatOf } from "../output/format.ts";
import { type Listing, type ListExtra, uidAsPath, wordsOf } from "../output/listing.ts";
import { isRedrawable } from "./live.ts";
import type { WatchFlags } from "./watch-options.ts";
import { watchChanges } from "./watch-changes.ts";
import { watchScreen } from "./watch-screen.ts";

/** What watching needs besides. */
export interface WatchExtra extends ListExtra {
  /** Ends it; what it was aborted with is thrown. */
  signal: AbortSignal;
}

const ITEMS_IN_BLOCK = 250;
// A terminal shows no more of a list, and one more is on the same page of it.
const ITEMS_ON_SCREEN = 199;

/** Watches a list. `load` asks for it. */
export async function watchList(
  load: () => AsyncIterable<JsonObject>,
  listing: Listing,
  flags: WatchFlags,
  { signal, totalCount = () => undefined, pathOf = uidAsPath }: WatchExtra,
): Promise<never> {
  const kind = formatOf(flags).kind;
  const table = kind === "table" || kind === "wide";
  if (!table || !isRedrawable(process.stdout))
    return watchChanges(() => blocksOf(load(), ITEMS_IN_BLOCK), listing, flags, { signal, pathOf });

  const { formOf, rowsOf, shownColumns, Table } = await import("../output/table.ts");
  const columns = shownColumns(listing, kind === "wide");
  const style = (width: number) => ({
    wide: kind === "wide",
    headers: flags.headers !== false,
    terminal: true,
    columns: width,
    colored: isColored(process.stdout),
  });
  let rows: Awaited<ReturnType<typeof rowsOf>> = [];
  let more = false;
  return watchScreen(flags, signal, {
    async ask() {
      const { items, ended } = await firstOf(load(), ITEMS_ON_SCREEN);
      rows = await rowsOf(items, columns, formOf(style(0)), Date.now(), pathOf);
      more = !ended;
    },
    lines(width, height) {
      if (rows.length === 0) return [`no ${wordsOf(listing.field)}`];
      const drawn = new Table(columns, style(width)).lines(rows).trimEnd().split("\n");
      if (drawn.length <= height && !more) return drawn;
      const shown = drawn.slice(0, Math.max(1, height - 1));
      const left = Number(totalCount() ?? NaN) - shown.length + (flags.headers === false ? 0 : 1);
      return [...shown, Number.isNaN(left) ? "… and more" : `… and ${left} more`];
    },
  });
}

/** Watches one resource. `load` asks for it. */
export async function watchItem(
  load: () => Promise<JsonObject>,
  listing: Listing,
  flags: WatchFlags,
  { signal, pathOf = uidAsPath }: WatchExtra,
): Promise<never> {
  const kind = formatOf(flags).kind;
  const details = kind === "table" || kind === "wide";
  if (!details || !isRedrawable(process.stdout))
    return watchChanges(
      async function* ask() {
        yield [await load()];
      },
      listing,
      flags,
      { signal, pathOf },
    );

  const { detailLines } = await import("../output/details.ts");
  let [item, name]: [JsonObject, string] = [{}, ""];
  return watchScreen(flags, signal, {
    async ask() {
      item = await load();
      name = await listing.nameOf(item, pathOf);
    },
    lines(_, height) {
      const drawn = detailLines(item, {
        terminal: true,
        colored: isColored(process.stdout),
        nowMs: Date.now(),
        name,
      });
      return drawn.length <= height ? drawn : [...drawn.slice(0, Math.max(1, height - 1)), "…"];
    },
  });
}

/** The first items, and whether these are all. */
async function firstOf(
  items: AsyncIterable<JsonObject>,
  most: number,
): Promise<{ items: JsonObject[]; ended: boolean }> {
  const first: JsonObject[] = [];
  for await (const item of items) {
    if (first.length === most) return { items: first, ended: false };
    first.push(item);
  }
  return { items: first, ended: true };
}
