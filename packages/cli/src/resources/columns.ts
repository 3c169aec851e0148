// How the lists and the items of each resource are printed.
import type { Column, Listing } from "../output/listing.ts";
import { bytes, count, digest, enumWord, text, textAt, time, valueAt, yes } from "./column-kinds.ts";
import { COLUMNS } from "./column-tables.ts";
import { NAMES, nameOfAny } from "./item-names.ts";
import type { FieldSpec } from "./spec.ts";

const MOST_IN_TABLE = 6;
const LONG = /^(?:description|message|reason|error|url|purl)$/i;

/**
 * How to print a list and its items. `field`: the list's field in the response, such as `repos`; for items of no list,
 * the noun serves. Columns are made by hand for what people look at often, and else out of the fields.
 */
export function listingOf(noun: string, field: string, fields: readonly FieldSpec[]): Listing {
  return {
    field: field || noun,
    columns: COLUMNS[`${noun} ${field}`] ?? COLUMNS[field] ?? columnsOf(fields),
    nameOf: NAMES[`${noun} ${field}`] ?? NAMES[field] ?? nameOfAny,
    idOf: (item) => textAt(item, "uid") || textAt(item, "id") || textAt(item, "name") || textAt(item, "digest"),
  };
}

/** Columns out of fields: the first are in tables, all in `wide`. */
function columnsOf(fields: readonly FieldSpec[]): Column[] {
  const columns = fields
    .filter((field) => field.input !== true && !(field.name === "uid" && fields.length > 1))
    .map((field, at) => columnOf(field, at >= MOST_IN_TABLE || field.type === "message" || field.type === "map"));
  return fields.every(({ name }) => name !== "uid")
    ? columns
    : [...columns, text("UID", "uid", { wide: columns.length > 0 })];
}

function columnOf(field: FieldSpec, wide: boolean): Column {
  const { name, type, repeated } = field;
  const header = name
    .replace(/Time$/, "")
    .replace(/[A-Z]/g, (letter) => ` ${letter}`)
    .toUpperCase();
  const extra = { ...(wide && { wide }), ...(LONG.test(name) && { flexible: true }) };
  if (repeated) return text(header, name, extra);
  if (type === "timestamp") return time(header, name, extra);
  if (type === "bool") return yes(header, name, extra);
  if (type === "enum") return { header, value: (item) => enumWord(valueAt(item, name), field.prefix ?? ""), ...extra };
  if (/digest$/i.test(name)) return digest(header, name, extra);
  if (type === "int64" && /(?:^size|Size|[bB]ytes)$/.test(name)) return bytes(header, name, extra);
  return type === "int32" || type === "int64" || type === "double"
    ? count(header, name, extra)
    : text(header, name, extra);
}
