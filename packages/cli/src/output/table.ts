// Lists as tables, which are printed while they come.
import type { PathOf } from "../api/uid-paths.ts";
import type { JsonObject } from "../api/rest.ts";
import { type CellForm, cellText } from "./cells.ts";
import { type Color, paint } from "./color.ts";
import type { Column, Listing } from "./listing.ts";
import { cut, pad, widthOf } from "./width.ts";

const GAP = "  ";
const LEAST_FLEXIBLE = 12;
const LEAST = 8;

/** How a table is shown. */
export interface TableStyle {
  /** All columns, with whole values that are never cut. */
  wide: boolean;
  headers: boolean;
  /** Whether a person reads it: ages for times, lines cut to `columns`. */
  terminal: boolean;
  /** Width of the terminal. */
  columns: number;
  colored: boolean;
}

/** A row: what each column shows. */
export interface Row {
  readonly cells: readonly string[];
  readonly colors: readonly (Color | undefined)[];
}

/** The columns that a table shows. */
export function shownColumns(listing: Listing, wide: boolean): Column[] {
  return listing.columns.filter((column) => wide || column.wide !== true);
}

/** The rows of items; uids are looked up together. */
export async function rowsOf(
  items: readonly JsonObject[],
  columns: readonly Column[],
  form: CellForm,
  nowMs: number,
  pathOf: PathOf,
): Promise<Row[]> {
  return Promise.all(
    items.map(async (item) => {
      const values = await Promise.all(columns.map((column) => column.value(item, pathOf)));
      return {
        cells: values.map((value, at) => {
          const { kind = "text", short, missing = "" } = columns[at] ?? {};
          if (value === "" && form !== "raw") return missing;
          return cellText(form === "short" && short ? short(value) : value, kind, form, nowMs);
        }),
        colors: columns.map((column) => column.color?.(item)),
      };
    }),
  );
}

/** How much of values a table shows. */
export function formOf({ wide, terminal }: TableStyle): CellForm {
  return terminal && !wide ? "short" : "whole";
}

/** Draws blocks of rows one below the other. Columns are as wide as the first block needs; later ones may widen it. */
export class Table {
  readonly #columns: readonly Column[];
  readonly #style: TableStyle;
  #widths: number[] = [];
  #started = false;

  constructor(columns: readonly Column[], style: TableStyle) {
    this.#columns = columns;
    this.#style = style;
  }

  /** The lines of a block; the headers are above the first. */
  lines(rows: readonly Row[]): string {
    const { headers } = this.#style;
    const first = !this.#started;
    this.#started = true;
    const heads = headers ? this.#columns.map(({ header }) => header) : [];
    const needed = this.#columns.map((_, at) =>
      Math.max(widthOf(heads[at] ?? ""), ...rows.map(({ cells }) => widthOf(cells[at] ?? ""))),
    );
    this.#widths = this.#fitted(needed.map((width, at) => Math.max(width, this.#widths[at] ?? 0)));
    const head = this.#line(
      heads,
      heads.map((): Color => "bold"),
    );
    return (
      (first && headers ? `${head}\n` : "") + rows.map(({ cells, colors }) => `${this.#line(cells, colors)}\n`).join("")
    );
  }

  /** Widths that fit the terminal: columns of words give way first, then the widest. */
  #fitted(widths: number[]): number[] {
    const { terminal, wide, columns, headers } = this.#style;
    if (!terminal || wide) return widths;
    const fitted = [...widths];
    let over = fitted.reduce((sum, width) => sum + width, GAP.length * (fitted.length - 1)) - columns;
    for (const flexible of [true, false]) {
      const least = (at: number): number =>
        Math.max(headers ? widthOf(this.#columns[at]?.header ?? "") : 0, flexible ? LEAST_FLEXIBLE : LEAST);
      while (over > 0) {
        let widest = -1;
        for (const [at, column] of this.#columns.entries()) {
          const width = fitted[at] ?? 0;
          if ((column.flexible === true || !flexible) && width > least(at) && width > (fitted[widest] ?? 0))
            widest = at;
        }
        if (widest < 0) break;
        fitted[widest] = (fitted[widest] ?? 0) - 1;
        over -= 1;
      }
    }
    return fitted;
  }

  #line(cells: readonly string[], colors: readonly (Color | undefined)[]): string {
    const { colored, terminal, wide, columns } = this.#style;
    const last = this.#columns.length - 1;
    let left = terminal && !wide ? columns : Infinity;
    let line = "";
    for (const [at, column] of this.#columns.entries()) {
      const width = this.#widths[at] ?? 0;
      const fits = terminal && !wide ? cut(cells[at] ?? "", Math.min(width, left)) : (cells[at] ?? "");
      const cell = at === last && column.right !== true ? fits : pad(fits, width, column.right);
      const text = fits === "" ? cell : cell.replace(fits, () => (colored ? paint(fits, colors[at]) : fits));
      line += at === last ? text : text + GAP;
      left -= width + GAP.length;
      if (left <= 0) break;
    }
    return line.trimEnd();
  }
}
