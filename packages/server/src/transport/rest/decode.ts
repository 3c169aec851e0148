import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { type Fields, fieldNamed, getField, setField, violate } from "@moorage/kernel/lib/protojson/fields";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { fieldReader, jsonReader } from "@moorage/kernel/lib/protojson/read";
import { selectionOf } from "@moorage/kernel/lib/protojson/field-mask";
import { compileQuery } from "./query.ts";
import type { Binding } from "./routes.ts";

/**
 * Checks a message against the rules of its fields. Returns every violation, with paths in camelCase relative to the
 * message.
 */
export type ViolationsOf = (desc: DescMessage, message: Message) => FieldViolation[];
/**
 * Makes the request message from the path's raw values, the query without `?`, and the parsed body, which is undefined
 * when there is none.
 */
export type Decode = (values: readonly string[], query: string, json: unknown) => Message;

type ReadBody = (message: Fields, json: unknown, bad: FieldViolation[]) => Fields;
type FillPath = (message: Fields, values: readonly string[], bad: FieldViolation[]) => void;

/**
 * Compiles the decoder of a binding. The decoder throws INVALID_ARGUMENT with everything that is wrong in path, query
 * and body, and, where the body is a new resource, with the violations that `violationsOf` finds in it as well. The
 * path takes precedence over the body. The message of an update always has a mask: the caller's, or the leaves that the
 * body has, so that an empty body changes nothing. With a mask there must be a body, because an absent one would clear
 * what the mask names. Source: docs/contract.md, "JSON", "Listing", "Updating" and
 * "Errors".
 */
export function compileDecoder(binding: Binding, violationsOf: ViolationsOf): Decode {
  const request = binding.method.input;
  const fillPath = compilePath(binding);
  const readQuery = compileQuery(
    request,
    binding.template.variables.map((variable) => variable.field),
    binding.body,
  );
  const readBody = compileBody(binding, violationsOf);
  return (values, query, json) => {
    const bad: FieldViolation[] = [];
    let message = create(request) as Fields;
    if (query !== "") readQuery(query, message, bad);
    if (readBody !== undefined) message = readBody(message, json, bad);
    fillPath(message, values, bad);
    if (bad.length > 0) throw invalidArgument(...bad);
    return message;
  };
}

function compileBody(binding: Binding, violationsOf: ViolationsOf): ReadBody | undefined {
  const request = binding.method.input;
  if (binding.body === "") return undefined;
  if (binding.body === "*") {
    const read = jsonReader(request);
    const unread = binding.template.variables.map((variable) => variable.field);
    const validateOnly = fieldNamed(request, "validate_only");
    return (message, json, bad) => {
      const made = read(json === undefined ? {} : json, "", bad, 0, { unread });
      // The one field that the query has beside such a body (query.ts).
      if (made !== undefined && validateOnly !== undefined && getField(message, validateOnly) === true)
        setField(made, validateOnly, true);
      return made ?? message;
    };
  }
  const body = mustField(request, binding.body);
  if (body.fieldKind === "list") return listReader(body);
  const resource = body.message;
  if (resource === undefined) throw new Error(`the body of ${binding.method.toString()} is not a message`);
  const mask = request.fields.find(
    (field) => field.name === "update_mask" && field.message?.typeName === FieldMaskSchema.typeName,
  );
  const read = jsonReader(resource);
  if (mask !== undefined) return updateReader(read, body, mask);
  return (message, json, bad) => {
    // Without a body the field stays unset: dispatch refuses that where it is required, in every protocol.
    const value = json === undefined ? undefined : read(json, "", bad, 0);
    if (value === undefined) return message;
    setField(message, body, value);
    if (bad.length > 0)
      bad.push(...violationsOf(resource, value).filter((found) => !bad.some((known) => known.field === found.field)));
    return message;
  };
}

/** A body that is an array: the values of a repeated field. */
function listReader(body: DescField): ReadBody {
  const read = fieldReader(body);
  return (message, json, bad) => {
    const values = json === undefined ? undefined : read(json, body.jsonName, bad, 0);
    if (values !== undefined) setField(message, body, values);
    return message;
  };
}

function updateReader(read: ReturnType<typeof jsonReader>, body: DescField, mask: DescField): ReadBody {
  return (message, json, bad) => {
    const given = (getField(message, mask) as FieldMask | undefined)?.paths ?? [];
    const present: string[] = [];
    const value = read(json === undefined ? {} : json, "", bad, 0, {
      present,
      selection: given.length === 0 ? undefined : selectionOf(given),
    });
    if (value !== undefined) setField(message, body, value);
    if (json === undefined && given.length > 0) violate(bad, "body", "is required with a mask");
    if (given.includes("")) violate(bad, "updateMask", "has an empty path");
    if (given.length === 0) setField(message, mask, create(FieldMaskSchema, { paths: present }));
    return message;
  };
}

function compilePath({ method, template }: Binding): FillPath {
  const variables = template.variables.map((variable) => {
    const fields: DescField[] = [];
    let at: DescMessage | undefined = method.input;
    for (const name of variable.field.split(".")) {
      const field = mustField(at, name);
      fields.push(field);
      at = field.message;
    }
    const last = fields.pop();
    if (last?.fieldKind !== "scalar" || last.oneof !== undefined)
      throw new Error(`${method.toString()} has a path variable that is not a plain field`);
    return { parents: fields, field: last, index: variable.index };
  });
  return (message, values, bad) => {
    for (const { parents, field, index } of variables) {
      let at = message;
      for (const parent of parents) at = enter(at, parent);
      const value = decodeSegment(values[index] ?? "");
      if (value === undefined) violate(bad, field.jsonName, "is not valid percent-encoding");
      else at[field.localName] = value;
    }
  };
}

function enter(message: Fields, field: DescField): Fields {
  const there = getField(message, field);
  if (there !== undefined || field.message === undefined) return there as Fields;
  const made = create(field.message) as Fields;
  setField(message, field, made);
  return made;
}

/** Undefined when the text is not valid percent-encoding of UTF-8. */
function decodeSegment(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function mustField(desc: DescMessage | undefined, name: string): DescField {
  const field = desc && fieldNamed(desc, name);
  if (field === undefined) throw new Error(`an HTTP rule names the field ${name}, which does not exist`);
  return field;
}
