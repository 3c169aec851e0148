import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
  toJsonString,
} from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { milliseconds, timestamp } from "../lib/timestamps.ts";
import type { Row, Tables } from "../store/index.ts";

/**
 * How a column stores a field. `plain`: unchanged; `flag`: 0 or 1; `time`: milliseconds since 1970, null when not set;
 * `texts`: a list of strings, and `map`: a map, as JSON.stringify writes them; `message`: a message as proto3 JSON,
 * null when not set.
 */
export type Form = "plain" | "long" | "flag" | "time" | "texts" | "map" | "message";
/** The columns of one row in the order of a layout, possibly followed by others. */
export type Cells = readonly unknown[];
/** The fields of a message that are stored in columns of the same name. */
export interface Layout<D extends DescMessage = DescMessage> {
  message: D;
  fields: readonly { field: DescField; form: Form }[];
  /** Their columns, in the same order. */
  columns: readonly string[];
  toMessage(cells: Cells): MessageShape<D>;
  /** The message of a row as an object. */
  ofRow(row: object): MessageShape<D>;
  /** The fields from such a row, for a message that has fields beside those in columns. */
  fieldsOf(row: object): Exclude<MessageInitShape<D>, MessageShape<D>>;
}

/**
 * The layout of a message whose fields are all stored in columns of their own proto names, except those in `without`,
 * which keep their defaults. Throws, at boot, for a field of a type that has no form.
 */
export function layoutOf<D extends DescMessage>(
  message: D,
  { without = [] }: { without?: readonly string[] } = {},
): Layout<D> {
  const fields = message.fields
    .filter(({ name }) => !without.includes(name))
    .map((field) => ({ field, form: formOf(field) }));
  const columns = fields.map(({ field }) => field.name);
  const initOf = (cells: Cells): Exclude<MessageInitShape<D>, MessageShape<D>> => {
    const init: Record<string, unknown> = {};
    for (const [at, { field, form }] of fields.entries()) init[field.localName] = valueOf(field, form, cells[at]);
    return init as Exclude<MessageInitShape<D>, MessageShape<D>>;
  };
  const toMessage = (cells: Cells): MessageShape<D> => create(message, initOf(cells));
  const cellsOf = (row: object): Cells => columns.map((column) => (row as Record<string, unknown>)[column]);
  return {
    message,
    fields,
    columns,
    toMessage,
    ofRow: (row) => toMessage(cellsOf(row)),
    fieldsOf: (row) => initOf(cellsOf(row)),
  };
}

/**
 * The inverse: the values of these columns of the table, for an insert or an update of a message. Throws, at boot, for
 * a column that the layout lacks.
 */
export function columnsOf<D extends DescMessage, T extends keyof Tables, C extends keyof Row<T> & string>(
  layout: Layout<D>,
  table: T,
  columns: readonly C[],
): (message: MessageShape<D>) => Pick<Row<T>, C> {
  const written = columns.map((column) => {
    const stored = layout.fields.find(({ field }) => field.name === column);
    if (stored === undefined) throw new Error(`${layout.message.typeName} holds no field for ${table}.${column}`);
    return { column, ...stored };
  });
  return (message) => {
    const row: Record<string, unknown> = {};
    for (const { column, field, form } of written)
      row[column] = cellOf(field, form, (message as Record<string, unknown>)[field.localName]);
    return row as Pick<Row<T>, C>;
  };
}

function formOf(field: DescField): Form {
  if (field.oneof !== undefined) throw new Error(`${field.toString()} has no stored form`);
  if (field.fieldKind === "enum") return "plain";
  if (field.fieldKind === "message") return field.message.typeName === TimestampSchema.typeName ? "time" : "message";
  if (field.fieldKind === "map") return "map";
  if (field.fieldKind === "list" && field.scalar === ScalarType.STRING) return "texts";
  if (field.scalar === ScalarType.BOOL && field.fieldKind === "scalar") return "flag";
  if (field.scalar === ScalarType.INT64 && field.fieldKind === "scalar") return "long";
  if (field.fieldKind === "scalar" && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.INT32))
    return "plain";
  throw new Error(`${field.toString()} has no stored form`);
}

function valueOf(field: DescField, form: Form, cell: unknown): unknown {
  if (cell === null) return undefined;
  if (form === "plain") return cell;
  if (form === "long") return BigInt(cell as number);
  if (form === "flag") return cell === 1;
  if (form === "time") return timestamp(cell as number);
  const value = JSON.parse(cell as string) as JsonValue;
  return field.fieldKind === "message" ? fromJson(field.message, value) : value;
}

function cellOf(field: DescField, form: Form, value: unknown): unknown {
  if (form === "plain") return value ?? null;
  if (form === "long") return Number(value);
  if (form === "flag") return value === true ? 1 : 0;
  if (form === "texts" || form === "map") return JSON.stringify(value);
  if (value === undefined) return null;
  if (form === "time") return milliseconds(value as Timestamp);
  if (field.fieldKind !== "message") throw new Error(`${field.toString()} is no message`);
  return toJsonString(field.message, value as Message);
}

const STORED: unique symbol = Symbol("stored");

/** An answer in its stored form, so that a handler that writes text need not make messages of it. */
export interface Stored<O extends DescMessage = DescMessage> {
  readonly [STORED]: true;
  /** The type of the answer's message. */
  output: O;
  layout: Layout;
  /** One row, which is the message itself; or, with `page`, the elements of one of its fields. */
  rows: readonly Cells[];
  page?: { field: string; rest: MessageShape<O> };
  /** Whether it depends on what changes without notice to the response cache, and is not cached therefore. */
  isUncached?: boolean;
}

export function isStored(answer: object): answer is Stored {
  return STORED in answer;
}

/** One row as an answer. */
export function storedRow<D extends DescMessage>(layout: Layout<D>, cells: Cells): Stored<D> {
  return { [STORED]: true, output: layout.message, layout, rows: [cells] };
}

/** Rows as a field of an answer; `rest` has its other fields. */
export function storedPage<O extends DescMessage>(
  output: O,
  field: string,
  rest: MessageShape<O>,
  layout: Layout,
  rows: readonly Cells[],
): Stored<O> {
  return { [STORED]: true, output, layout, rows, page: { field, rest } };
}

/** The message of an answer in either form. */
export function messageOf(answer: Message | Stored): Message {
  if (!isStored(answer)) return answer;
  const { output, layout, rows, page } = answer;
  if (page !== undefined)
    return create(output, { ...page.rest, [page.field]: rows.map(layout.toMessage) } as MessageInitShape<DescMessage>);
  return layout.toMessage(rows[0] ?? []);
}
