import { create, type DescField, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Fields } from "@moorage/kernel/lib/protojson/fields";
import {
  compileField,
  jsonWriter,
  listWriter,
  objectWriter,
  plainWriter,
  type Write,
  type WriteField,
} from "@moorage/kernel/lib/protojson/write";
import { writeTime } from "@moorage/kernel/lib/protojson/write-wellknown";
import type { Stored } from "@moorage/kernel/core/stored-answer";

type Layout = Stored["layout"];
type Cells = Stored["rows"][number];

const rowWriters = new WeakMap<Layout, (cells: Cells) => string>();
const pageWriters = new WeakMap<Layout, Map<DescMessage, (message: Fields) => string>>();

/**
 * Writes an answer from its stored form, as the same text that `jsonWriter` makes of its message. The writers of a
 * layout's columns are made once.
 */
export function writeStored({ output, layout, rows, page }: Stored): string {
  if (page === undefined) return rowWriter(layout)(rows[0] ?? []);
  const writers = pageWriters.get(layout) ?? new Map<DescMessage, (message: Fields) => string>();
  pageWriters.set(layout, writers);
  let write = writers.get(output);
  if (write === undefined) {
    const list = listWriter(page.field, rowWriter(layout) as Write);
    write = objectWriter(output, (field) => (field.localName === page.field ? list : compileField(field)));
    writers.set(output, write);
  }
  return write({ ...page.rest, [page.field]: rows });
}

function rowWriter(layout: Layout): (cells: Cells) => string {
  const known = rowWriters.get(layout);
  if (known !== undefined) return known;
  const empty = create(layout.message) as Fields;
  const write = objectWriter<Cells>(layout.message, (field) => {
    const at = layout.fields.findIndex((stored) => stored.field === field);
    const form = layout.fields[at]?.form;
    if (form !== undefined) return cellWriter(field, form, at);
    const text = compileField(field)(empty);
    return () => text;
  });
  rowWriters.set(layout, write);
  return write;
}

function cellWriter(field: DescField, form: Layout["fields"][number]["form"], at: number): WriteField<Cells> {
  switch (form) {
    case "plain":
    case "long": {
      const write = plainWriter(field);
      return (cells) => write(cells[at]);
    }
    case "flag":
      return (cells) => (cells[at] === 1 ? "true" : "false");
    case "time":
      return (cells) => (cells[at] === null ? undefined : writeTime(cells[at] as number));
    case "texts":
      // Stored as JSON.stringify writes it, as strings are written here.
      return (cells) => cells[at] as string;
    case "map":
      return (cells) => compileField(field)({ [field.localName]: JSON.parse(cells[at] as string) } as object as Fields);
    case "message":
      return (cells) => (cells[at] === null ? undefined : writeMessage(field, cells[at] as string));
  }
}

function writeMessage(field: DescField, text: string): string {
  if (field.fieldKind !== "message") throw new Error(`${field.toString()} is no message`);
  return jsonWriter(field.message)(fromJson(field.message, JSON.parse(text) as JsonValue));
}
