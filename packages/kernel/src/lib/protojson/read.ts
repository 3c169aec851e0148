import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Fields, isOutputOnly, isUpdatable, setField, shown, violate } from "./fields.ts";
import { isWellKnown } from "./write-wellknown.ts";
import type { FieldViolation } from "../../errors.ts";
import { enumReader, fail, type Read, scalarReader } from "./read-scalars.ts";
import { wellKnownReader } from "./read-wellknown.ts";
import { PRESENT, type Selection } from "./field-mask.ts";

/** Which fields of a message to read, and which facts to collect. */
export interface ReadOptions {
  /**
   * Reads only these fields and ignores everything else, valid or not. Defaults to all fields; then unknown keys are
   * violations.
   */
  selection?: Selection | undefined;
  /** Proto names of fields that are ignored because the request has their value elsewhere, such as in the URL. */
  unread?: readonly string[];
  /**
   * Filled with the leaves that are present in the JSON, as paths of a mask: keys of nested messages by themselves,
   * lists and maps as a whole, without fields that nobody can update. An object without such keys is a path with
   * `PRESENT`.
   */
  present?: string[];
}
/**
 * Reads a message; violations are recorded under paths that begin with `at`. Undefined when the JSON is not an object.
 */
export type ReadMessage = (
  json: unknown,
  at: string,
  bad: FieldViolation[],
  depth: number,
  options?: ReadOptions,
) => Fields | undefined;

interface Entry {
  field: DescField;
  ignored: boolean;
  read: Read;
}
interface Plan {
  desc: DescMessage;
  entries: Map<string, Entry>;
}

const MAX_DEPTH = 32;
const readers = new WeakMap<DescMessage, ReadMessage>();

/**
 * The function that reads messages of this type from parsed JSON, compiled once for each type. It accepts camelCase and
 * snake_case keys, records all violations together (unknown keys, wrong types, two members of a oneof, a field in both
 * casings), ignores output-only fields and treats null as absent. It never throws, whatever the JSON. Source:
 * docs/contract.md, "JSON", "Updating" and "Errors", and ProtoJSON.
 */
export function jsonReader(desc: DescMessage): ReadMessage {
  const known = readers.get(desc);
  if (known) return known;
  const plan: Plan = { desc, entries: new Map() };
  const read: ReadMessage = (json, at, bad, depth, options) => readMessage(plan, json, at, bad, depth, options);
  readers.set(desc, read);
  // The fields are added once the reader is registered: a message may contain its own type.
  for (const field of desc.fields) {
    const entry = { field, ignored: isOutputOnly(field), read: fieldReader(field) };
    plan.entries.set(field.name, entry).set(field.jsonName, entry);
  }
  return read;
}

/** The reader of a field's value: of the whole list or map for a repeated field. */
export function fieldReader(field: DescField): Read {
  if (field.fieldKind === "list") return listReader(elementReader(field));
  if (field.fieldKind === "map") return mapReader(scalarReader(field.mapKey), field.mapKey, elementReader(field));
  return elementReader(field);
}

/** The reader of a field's value, or of one element for a repeated field. */
export function elementReader(field: DescField): Read {
  if (field.enum !== undefined) return enumReader(field.enum);
  if (field.scalar !== undefined) return scalarReader(field.scalar);
  return isWellKnown(field.message) ? wellKnownReader(field.message) : jsonReader(field.message);
}

function readMessage(
  plan: Plan,
  json: unknown,
  at: string,
  bad: FieldViolation[],
  depth: number,
  options: ReadOptions = {},
): Fields | undefined {
  if (!isObject(json)) return fail(bad, at || "body", "must be an object");
  if (depth > MAX_DEPTH) return fail(bad, at || "body", "is nested too deep");
  const message = create(plan.desc) as Fields;
  const keys = options.selection === undefined ? Object.keys(json) : selectedKeys(plan, json, options.selection);
  for (const key of keys) {
    const entry = plan.entries.get(key);
    const path = entry === undefined ? join(at, shown(key)) : join(at, entry.field.jsonName);
    if (entry === undefined) violate(bad, path, "unknown field");
    else if (!entry.ignored && !options.unread?.includes(entry.field.name))
      readField(entry, message, json, key, path, bad, depth, options);
  }
  return message;
}

function readField(
  entry: Entry,
  message: Fields,
  json: Record<string, unknown>,
  key: string,
  path: string,
  bad: FieldViolation[],
  depth: number,
  options: ReadOptions,
): void {
  const { field } = entry;
  if (key !== field.jsonName && Object.hasOwn(json, field.jsonName))
    return violate(bad, path, `is given twice, as ${field.jsonName} and as ${field.name}`);
  const nested = field.fieldKind === "message" && !isWellKnown(field.message) ? field.message : undefined;
  const inner = options.selection?.get(field.name);
  const present = nested === undefined || json[key] === null ? undefined : options.present && [];
  if (isUpdatable(field) && present === undefined) options.present?.push(field.name);
  if (json[key] === null) return;
  const value =
    nested !== undefined && (inner instanceof Map || present !== undefined)
      ? jsonReader(nested)(json[key], path, bad, depth + 1, {
          ...(inner instanceof Map && { selection: inner }),
          ...(present !== undefined && { present }),
        })
      : entry.read(json[key], path, bad, depth + 1);
  if (present !== undefined && isUpdatable(field))
    options.present?.push(...(present.length === 0 ? [PRESENT] : present).map((leaf) => `${field.name}.${leaf}`));
  if (value === undefined) return;
  const taken = setField(message, field, value);
  if (taken !== undefined) violate(bad, path, `only one of ${taken} and ${field.jsonName} may be set`);
}

function selectedKeys(plan: Plan, json: Record<string, unknown>, selection: Selection): string[] {
  const keys: string[] = [];
  for (const name of selection.keys()) {
    const field = plan.entries.get(name)?.field;
    if (field === undefined) continue;
    if (Object.hasOwn(json, field.jsonName)) keys.push(field.jsonName);
    if (field.name !== field.jsonName && Object.hasOwn(json, field.name)) keys.push(field.name);
  }
  return keys;
}

function listReader(readElement: Read): Read {
  return (json, at, bad, depth) => {
    if (!Array.isArray(json)) return fail(bad, at, "must be an array");
    const before = bad.length;
    const values = json.map((item, index) => {
      const path = `${at}[${index}]`;
      return item === null ? fail(bad, path, "must not be null") : readElement(item, path, bad, depth);
    });
    return bad.length > before || values.includes(undefined) ? undefined : values;
  };
}

function mapReader(readKey: Read, key: ScalarType, readElement: Read): Read {
  const keyOf = (text: string): unknown =>
    key === ScalarType.BOOL && (text === "true" || text === "false") ? text === "true" : text;
  return (json, at, bad, depth) => {
    if (!isObject(json)) return fail(bad, at, "must be an object");
    const values: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(json)) {
      const path = join(at, shown(name));
      // As a key of a plain object it would set the prototype instead of an entry.
      if (name === "__proto__") violate(bad, path, "cannot be a key");
      else if (item === null) violate(bad, path, "must not be null");
      else {
        const read = readKey(keyOf(name), path, bad, depth);
        const value = readElement(item, path, bad, depth);
        if (read !== undefined && value !== undefined) values[String(read)] = value;
      }
    }
    return values;
  };
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function join(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}
