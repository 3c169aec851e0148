// Columns of fields: what a path such as `role.name` has in an item, as a cell.
import { isUid, type Kind, parentOf } from "../api/name-kinds.ts";
import { durationMs, durationText } from "../command/duration.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import type { PathOf } from "../api/uid-paths.ts";
import type { Color } from "../output/color.ts";
import type { Column } from "../output/listing.ts";

/** What a column may have besides its header and its field. */
export type Extra = Pick<Column, "wide" | "right" | "flexible" | "color" | "missing">;

/** The value at a path of fields; undefined where one is missing. */
export function valueAt(item: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = item;
  for (const name of path.split("."))
    value = value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
  return value;
}

/** A value in a cell: empty for what is not there, lists with commas. */
export function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The text of a field. */
export function textAt(item: JsonObject, path: string): string {
  return textOf(valueAt(item, path));
}

/** A name of an enum without its prefix: `base` of `CATALOG_TIER_BASE`; empty when it is not given. */
export function enumWord(value: Json | undefined, prefix: string): string {
  const text = textOf(value);
  const word = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return word === "UNSPECIFIED" ? "" : word.toLowerCase().replaceAll("_", "-");
}

/** A column of a text, a number or a list. */
export function text(header: string, path: string, extra: Extra = {}): Column {
  return { header, value: (item) => textAt(item, path), ...extra };
}

/** A column of a number. */
export function count(header: string, path: string, extra: Extra = {}): Column {
  return text(header, path, { right: true, ...extra });
}

/** A column of a time. */
export function time(header: string, path: string, extra: Extra = {}): Column {
  return { ...text(header, path, extra), kind: "time" };
}

/** A column of a digest. */
export function digest(header: string, path: string, extra: Extra = {}): Column {
  return { ...text(header, path, extra), kind: "digest" };
}

/** A column of a number of bytes. */
export function bytes(header: string, path: string, extra: Extra = {}): Column {
  return { ...count(header, path, extra), kind: "bytes" };
}

/** A column of a duration: `7d` for `604800s`. */
export function duration(header: string, path: string, extra: Extra = {}): Column {
  return {
    header,
    value(item) {
      const said = textAt(item, path);
      const ms = durationMs(said);
      return ms === undefined ? said : durationText(ms);
    },
    ...extra,
  };
}

/** A column that says yes where a field is true. */
export function yes(header: string, path: string, extra: Extra = {}): Column {
  return { header, value: (item) => (valueAt(item, path) === true ? "yes" : ""), ...extra };
}

/** A column of an enum, without the prefix of its names. */
export function word(header: string, path: string, prefix: string, extra: Extra = {}): Column {
  return { header, value: (item) => enumWord(valueAt(item, path), prefix), ...extra };
}

/** A column of a uid, shown as the path of names of what it names. */
export function named(header: string, path: string, kind: Kind | undefined, extra: Extra = {}): Column {
  return {
    header,
    value(item, pathOf) {
      const uid = textAt(item, path);
      return uid === "" ? "" : pathOf(uid, kind);
    },
    kind: "path",
    ...extra,
  };
}

/** A column of the group, or whatever is above, of an item's uid. */
export function above(header: string, kind?: Kind, extra: Extra = {}): Column {
  return {
    header,
    value(item, pathOf) {
      const parent = parentOf(textAt(item, "uid"));
      return parent === "" ? "" : pathOf(parent, kind);
    },
    kind: "path",
    ...extra,
  };
}

/** The name below its parent's: `acme/ci`. An item whose parent the caller does not see goes by its uid. */
export async function nameBelow(item: JsonObject, pathOf: PathOf, name: string, separator = "/"): Promise<string> {
  const uid = textAt(item, "uid");
  const parent = parentOf(uid);
  if (name === "") return uid;
  if (parent === "") return name;
  const path = await pathOf(parent);
  return isUid(path) ? uid : `${path}${separator}${name}`;
}

/** A color by the value of a field. */
export function colorBy(
  path: string,
  colors: Readonly<Record<string, Color>>,
): (item: JsonObject) => Color | undefined {
  return (item) => colors[textAt(item, path)];
}
