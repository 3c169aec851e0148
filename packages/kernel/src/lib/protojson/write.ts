import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { type Fields, isInputOnly, type OneofValue } from "./fields.ts";
import { isWellKnown, writeWellKnown } from "./write-wellknown.ts";

/** Writes a value as JSON text. */
export type Write = (value: unknown) => string;
/**
 * Writes one field as JSON text, taken from a message or another source of its fields. Undefined when the field is
 * absent.
 */
export type WriteField<M = Fields> = (message: M) => string | undefined;
interface Part<M> {
  first: string;
  next: string;
  write: WriteField<M>;
}

/** Which fields of a message are written, and how texts are. */
export interface JsonForm {
  leavesOut(field: DescField): boolean;
  writeText: Write;
  /** Whether fields with their default values are left out, as ProtoJSON does unless it is asked otherwise. */
  omitsDefaults?: boolean;
}

const FEATURE_IMPLICIT = 2;
/** The form of the API's responses. */
const ANSWER: JsonForm = { leavesOut: isInputOnly, writeText: JSON.stringify };
/** The form of responses of the v1 API, where an empty list is `{}`. Source: docs/api/v1.md. */
export const V1_ANSWER: JsonForm = { ...ANSWER, omitsDefaults: true };
const writers = new WeakMap<JsonForm, WeakMap<DescMessage, Write>>();

/**
 * The function that writes messages of this type as JSON text, compiled once for each type and form. It is proto3 JSON
 * that prints every plain field, empty ones too; unset messages, timestamps, optionals and oneof members are absent;
 * INPUT_ONLY fields are never printed, unless the form says otherwise; timestamps have three decimals and `Z`. Throws
 * at compile time for a type that has no such form. Source: docs/contract.md, "JSON", and ProtoJSON.
 */
export function jsonWriter(desc: DescMessage, form: JsonForm = ANSWER): (message: Message) => string {
  return messageWriter(desc, form);
}

function messageWriter(desc: DescMessage, form: JsonForm): Write {
  let ofForm = writers.get(form);
  if (ofForm === undefined) writers.set(form, (ofForm = new WeakMap()));
  const known = ofForm.get(desc);
  if (known) return known;
  if (isWellKnown(desc)) {
    const write = writeWellKnown(desc);
    ofForm.set(desc, write);
    return write;
  }
  const parts: Part<Fields>[] = [];
  const write = joined(parts) as Write;
  ofForm.set(desc, write);
  // The fields are added once the writer is registered: a message may contain its own type.
  parts.push(...partsOf(desc, form, (field) => compileField(field, form)));
  return write;
}

/**
 * The function that writes a message of this type from another source than the message itself, such as a database row:
 * field by field, in the same order and with the same names.
 */
export function objectWriter<M>(desc: DescMessage, writeOf: (field: DescField) => WriteField<M>): (value: M) => string {
  return joined(partsOf(desc, ANSWER, writeOf));
}

function joined<M>(parts: readonly Part<M>[]): (value: M) => string {
  return (value) => {
    let text = "";
    for (const part of parts) {
      const piece = part.write(value);
      if (piece !== undefined) text += (text === "" ? part.first : part.next) + piece;
    }
    return text === "" ? "{}" : `${text}}`;
  };
}

function partsOf<M>(
  desc: DescMessage,
  { leavesOut }: JsonForm,
  writeOf: (field: DescField) => WriteField<M>,
): Part<M>[] {
  return desc.fields
    .filter((field) => !leavesOut(field))
    .map((field) => {
      const key = `${JSON.stringify(field.jsonName)}:`;
      return { first: `{${key}`, next: `,${key}`, write: writeOf(field) };
    });
}

/** The function that writes one field of a message. */
export function compileField(field: DescField, form: JsonForm = ANSWER): WriteField {
  const write = fieldWriter(field, form);
  if (form.omitsDefaults !== true || field.oneof !== undefined) return write;
  return (message) => (isDefault(field, message[field.localName]) ? undefined : write(message));
}

/** Whether the value of a field without presence is the one it has when it is not set. */
function isDefault({ fieldKind, presence }: DescField, value: unknown): boolean {
  if (fieldKind === "list") return (value as unknown[]).length === 0;
  if (fieldKind === "map") return Object.keys(value as object).length === 0;
  if (presence !== FEATURE_IMPLICIT) return false;
  return value instanceof Uint8Array ? value.length === 0 : !value;
}

function fieldWriter(field: DescField, form: JsonForm): WriteField {
  const name = field.localName;
  const write = field.message !== undefined ? messageWriter(field.message, form) : plainWriter(field, form);
  if (field.fieldKind === "list") return listWriter(name, write);
  if (field.fieldKind === "map") return mapWriter(name, write);
  if (field.oneof !== undefined) {
    const group = field.oneof.localName;
    return (message) => {
      const chosen = message[group] as OneofValue | undefined;
      return chosen?.case === name ? write(chosen.value) : undefined;
    };
  }
  if (field.presence === FEATURE_IMPLICIT) return (message) => write(message[name]);
  return (message) => (message[name] === undefined ? undefined : write(message[name]));
}

/** The function that writes the list in that property. */
export function listWriter(name: string, write: Write): WriteField {
  return (message) => {
    const items = message[name] as unknown[];
    if (items.length === 0) return "[]";
    let text = `[${write(items[0])}`;
    for (let at = 1; at < items.length; at++) text += `,${write(items[at])}`;
    return `${text}]`;
  };
}

function mapWriter(name: string, write: Write): WriteField {
  return (message) =>
    `{${Object.entries(message[name] as Record<string, unknown>)
      .map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`)
      .join(",")}}`;
}

/** The function that writes a scalar or an enum. */
export function plainWriter(field: { scalar?: ScalarType; enum?: DescEnum }, { writeText }: JsonForm = ANSWER): Write {
  if (field.enum !== undefined) return enumWriter(field.enum);
  return field.scalar === ScalarType.STRING ? writeText : scalarWriter(field.scalar);
}

function enumWriter(desc: DescEnum): Write {
  const names = new Map(desc.values.map((value) => [value.number, JSON.stringify(value.name)]));
  return (value) => names.get(value as number) ?? String(value);
}

function scalarWriter(scalar: ScalarType | undefined): Write {
  switch (scalar) {
    case ScalarType.BOOL:
      return (value) => (value === true ? "true" : "false");
    case ScalarType.BYTES:
      return (value) => `"${base64Encode(value as Uint8Array)}"`;
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? String(value) : `"${String(value)}"`);
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return (value) => `"${String(value)}"`;
    default:
      return String;
  }
}
