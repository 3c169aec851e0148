// What is known of a kind of items to print them.
import type { PathOf } from "../api/uid-paths.ts";
import type { JsonObject } from "../api/rest.ts";
import type { CellKind } from "./cells.ts";
import type { Color } from "./color.ts";

/** A column of tables. */
export interface Column {
  /** In capitals, such as `LAST SEEN`. */
  readonly header: string;
  /** The value as the API has it; a path of names where the API has a uid. */
  value(item: JsonObject, pathOf: PathOf): string | Promise<string>;
  /** `text` unless given. */
  readonly kind?: CellKind;
  /** What a terminal gets of the value, unless it is `wide`. */
  short?(value: string): string;
  /** What tables show where there is no value; empty unless given. CSV has an empty cell in any case. */
  readonly missing?: string;
  /** Only in `wide` and `csv`. */
  readonly wide?: boolean;
  /** Numbers stand on the right. */
  readonly right?: boolean;
  /** Gives way first where a terminal is narrow: text that people wrote. */
  readonly flexible?: boolean;
  color?(item: JsonObject): Color | undefined;
}

/** A kind of items. */
export interface Listing {
  /** The list's field in the API's response, such as `repos`. */
  readonly field: string;
  readonly columns: readonly Column[];
  /** The name by which commands find the item again. */
  nameOf(item: JsonObject, pathOf: PathOf): string | Promise<string>;
  idOf(item: JsonObject): string;
}

/** What a list adds to its items. */
export interface ListExtra {
  /** The number of all items, of which a list may show a part; known after the first. */
  totalCount?(): string | undefined;
  /** Other fields of the response, which JSON and YAML have behind the items; known after the first. */
  behind?(): JsonObject;
  /** Looks paths of names up; without it uids stand for themselves. */
  pathOf?: PathOf;
}

/** Uids for themselves. */
export const uidAsPath: PathOf = async (uid) => uid;

/** The items in words, such as `role bindings` of `roleBindings`. */
export function wordsOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
