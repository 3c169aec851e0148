import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Fields, getField, setField, shown, violate } from "@moorage/kernel/lib/protojson/fields";
import { isWellKnown } from "@moorage/kernel/lib/protojson/write-wellknown";
import type { FieldViolation } from "@moorage/kernel/errors";
import { elementReader, fieldReader } from "@moorage/kernel/lib/protojson/read";
import type { Read } from "@moorage/kernel/lib/protojson/read-scalars";

/** Fills the message from a query string (without its `?`) and adds what is wrong to `bad`. */
export type ReadQuery = (query: string, message: Fields, bad: FieldViolation[]) => void;

interface Parameter {
  /**
   * The name in violations: the proto path, such as `uidp.descendants_of`; a mask is `updateMask`, as docs/contract.md,
   * "Updating", calls it.
   */
  name: string;
  /** The fields of the messages around it, outermost first. */
  parents: DescField[];
  field: DescField;
  read: Read;
  /** Why it is not read from the query: the path or the body gives it. */
  elsewhere: "" | "path" | "body";
}
type Parameters = Map<string, Parameter>;

const VALIDATE_ONLY = "validate_only";
const MAX_DEPTH = 4;
const NUMBER = /^-?[0-9]+$/;

/**
 * Compiles the query parameters of a request: every field that neither the path nor the body gives. Nested fields are
 * dotted, each part in snake_case or camelCase; repeated fields repeat the parameter; a repeated message is given as
 * JSON or, for a single element, by its dotted fields. Violations are unknown parameters, single ones given more than
 * once, and those that the path or the body gives. `path` has dotted proto names; `body` is as in a binding. Source:
 * docs/contract.md, "Listing"; google/api/http.proto. Only `validate_only` is taken from the query although the body
 * has the whole request: every dry run is asked for in the same way.
 */
export function compileQuery(request: DescMessage, path: readonly string[], body: string): ReadQuery {
  const parameters: Parameters = new Map();
  collect(parameters, request, [], [""], (name) =>
    path.includes(name)
      ? "path"
      : name !== VALIDATE_ONLY && (body === "*" || name === body || name.startsWith(`${body}.`))
        ? "body"
        : "",
  );
  return (query, message, bad) => {
    const seen = new Set<Parameter>();
    for (const pair of query.split("&")) if (pair !== "") readPair(parameters, pair, message, bad, seen);
  };
}

function collect(
  parameters: Parameters,
  desc: DescMessage,
  parents: DescField[],
  prefixes: string[],
  elsewhere: (name: string) => Parameter["elsewhere"],
): void {
  for (const field of desc.fields) {
    const spellings = prefixes.flatMap((prefix) =>
      [...new Set([field.name, field.jsonName])].map((name) => prefix + name),
    );
    const name = [...parents, field].map((part) => part.name).join(".");
    const isMessage = field.message !== undefined && !isWellKnown(field.message) && field.fieldKind !== "map";
    if (isMessage && parents.length + 1 < MAX_DEPTH && !parents.some((parent) => parent.fieldKind === "list")) {
      collect(
        parameters,
        field.message,
        [...parents, field],
        spellings.map((each) => `${each}.`),
        elsewhere,
      );
    }
    const read = textReader(field, isMessage);
    const parameter = read && {
      name: name === "update_mask" ? "updateMask" : name,
      parents,
      field,
      read,
      elsewhere: elsewhere(name),
    };
    if (parameter) for (const spelling of spellings) parameters.set(spelling, parameter);
  }
}

/** The reader of a parameter's text; undefined for a field that a single parameter cannot give. */
function textReader(field: DescField, isMessage: boolean): Read | undefined {
  if (field.fieldKind === "map") return undefined;
  if (isMessage) return field.fieldKind === "list" ? jsonTextReader(fieldReader(field)) : undefined;
  const read = elementReader(field);
  if (field.scalar === ScalarType.BOOL)
    return (text, at, bad, depth) => read(text === "true" ? true : text === "false" ? false : text, at, bad, depth);
  if (field.enum !== undefined)
    return (text, at, bad, depth) =>
      read(typeof text === "string" && NUMBER.test(text) ? Number(text) : text, at, bad, depth);
  return read;
}

function jsonTextReader(read: Read): Read {
  return (text, at, bad, depth) => {
    try {
      return read(JSON.parse(String(text)), at, bad, depth);
    } catch {
      violate(bad, at, "must be a JSON array");
      return undefined;
    }
  };
}

function readPair(
  parameters: Parameters,
  pair: string,
  message: Fields,
  bad: FieldViolation[],
  seen: Set<Parameter>,
): void {
  const cut = pair.indexOf("=");
  const rawName = cut < 0 ? pair : pair.slice(0, cut);
  const name = decode(rawName);
  const parameter = name === undefined ? undefined : parameters.get(name);
  if (parameter === undefined)
    return violate(
      bad,
      shown(name ?? rawName),
      name === undefined ? "is not valid percent-encoding" : "unknown query parameter",
    );
  if (parameter.elsewhere !== "")
    return violate(bad, parameter.name, `is given in the ${parameter.elsewhere}, not in the query`);
  const value = decode(cut < 0 ? "" : pair.slice(cut + 1));
  if (value === undefined) return violate(bad, parameter.name, "is not valid percent-encoding");
  const repeats = parameter.field.fieldKind === "list" && parameter.field.listKind !== "message";
  if (seen.has(parameter) && !repeats) return violate(bad, parameter.name, "is given more than once");
  const isInJson = parameter.parents.some((parent) => [...seen].some((other) => other.field === parent));
  if (isInJson) return violate(bad, parameter.name, "is given as JSON and by its fields");
  seen.add(parameter);
  const parsed = parameter.read(value, parameter.name, bad, 0);
  if (parsed !== undefined) put(message, parameter, parsed, repeats, bad);
}

function put(
  message: Fields,
  { name, parents, field }: Parameter,
  value: unknown,
  repeats: boolean,
  bad: FieldViolation[],
): void {
  let at = message;
  for (const parent of parents) {
    const next = enter(at, parent);
    if (next === undefined) return violate(bad, name, "excludes another parameter that is given");
    at = next;
  }
  if (repeats) (at[field.localName] as unknown[]).push(value);
  else if (field.fieldKind === "list" && (at[field.localName] as unknown[]).length > 0)
    violate(bad, name, "is given as JSON and by its fields");
  else if (setField(at, field, value) !== undefined) violate(bad, name, "excludes another parameter that is given");
}

/**
 * The message in a field, created when it is not set; of a repeated field its only element. Undefined when another
 * member of its oneof is set.
 */
function enter(message: Fields, field: DescField): Fields | undefined {
  if (field.message === undefined) return undefined;
  const there = getField(message, field);
  if (field.fieldKind === "list") {
    const list = there as Fields[];
    if (list.length === 0) list.push(create(field.message) as Fields);
    return list[0];
  }
  if (there !== undefined) return there as Fields;
  const made = create(field.message) as Fields;
  return setField(message, field, made) === undefined ? made : undefined;
}

/** Undefined when the text cannot be decoded. A plus is a space, as in HTML forms. */
function decode(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
