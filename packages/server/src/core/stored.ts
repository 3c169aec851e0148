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
} from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { timestamp } from "../lib/timestamps.ts";

/**
 * How a column holds a field: `plain` as it is; `flag` 0 or 1; `time` milliseconds since 1970, null for none; `texts` a
 * list of strings and `map` a map, as JSON.stringify writes them; `message` a message as proto3 JSON, null for none.
 */
export type Form = "plain" | "flag" | "time" | "texts" | "map" | "message";
/** The columns of one row in the order of a layout, maybe followed by others. */
export type Cells = readonly unknown[];
/** Which fields of a message stand in columns of the same name. */
export interface Layout<D extends DescMessage = DescMessage> {
  message: D;
  fields: readonly { field: DescField; form: Form }[];
  /** Their columns, in the same order. */
  columns: readonly string[];
  toMessage(cells: Cells): MessageShape<D>;
  /** The same from a row as an object. */
  ofRow(row: object): MessageShape<D>;
}

/**
 * The layout of a message whose fields all stand in columns of their own proto names, but for those in `without`, which
 * stay at their defaults. Throws, at boot, for a field of a type that has no form.
 */
export function layoutOf<D extends DescMessage>(
  message: D,
  { without = [] }: { without?: readonly string[] } = {},
): Layout<D> {
  const fields = message.fields
    .filter(({ name }) => !without.includes(name))
    .map((field) => ({ field, form: formOf(field) }));
  const columns = fields.map(({ field }) => field.name);
  const toMessage = (cells: Cells): MessageShape<D> => {
    const init: Record<string, unknown> = {};
    for (const [at, { field, form }] of fields.entries()) init[field.localName] = valueOf(field, form, cells[at]);
    return create(message, init as MessageInitShape<D>);
  };
  return {
    message,
    fields,
    columns,
    toMessage,
    ofRow: (row) => toMessage(columns.map((column) => (row as Record<string, unknown>)[column])),
  };
}

function formOf(field: DescField): Form {
  if (field.oneof !== undefined) throw new Error(`${field.toString()} has no stored form`);
  if (field.fieldKind === "enum") return "plain";
  if (field.fieldKind === "message") return field.message.typeName === TimestampSchema.typeName ? "time" : "message";
  if (field.fieldKind === "map") return "map";
  if (field.fieldKind === "list" && field.scalar === ScalarType.STRING) return "texts";
  if (field.scalar === ScalarType.BOOL && field.fieldKind === "scalar") return "flag";
  if (field.fieldKind === "scalar" && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.INT32))
    return "plain";
  throw new Error(`${field.toString()} has no stored form`);
}

function valueOf(field: DescField, form: Form, cell: unknown): unknown {
  if (cell === null) return undefined;
  if (form === "plain") return cell;
  if (form === "flag") return cell === 1;
  if (form === "time") return timestamp(cell as number);
  const value = JSON.parse(cell as string) as JsonValue;
  return field.fieldKind === "message" ? fromJson(field.message, value) : value;
}

const STORED: unique symbol = Symbol("stored");

/** An answer still in the form it is stored in, so that a door which writes text need make no messages of it. */
export interface Stored<O extends DescMessage = DescMessage> {
  readonly [STORED]: true;
  /** The message that it is. */
  output: O;
  layout: Layout;
  /** One, which is the message itself, or where `page` is set the elements of one of its fields. */
  rows: readonly Cells[];
  page?: { field: string; rest: MessageShape<O> };
}

export function isStored(answer: object): answer is Stored {
  return STORED in answer;
}

/** One row as an answer. */
export function storedRow<D extends DescMessage>(layout: Layout<D>, cells: Cells): Stored<D> {
  return { [STORED]: true, output: layout.message, layout, rows: [cells] };
}

/** Rows as a field of an answer; `rest` are its other fields. */
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
