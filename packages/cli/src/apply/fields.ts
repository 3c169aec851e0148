// The fields of resources as JSON, by their descriptors.
import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { field_behavior as behaviorOption, FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { other_name as otherName, v1_name as v1Name } from "@moorage/api/messages";
import { isObject } from "../api/json-fields.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { bytesOf, durationOf, integerOf, isInteger, scalarOf } from "./proto-json.ts";

/** Whether a field is output only, immutable or required. */
export function hasBehavior(field: DescField, behavior: keyof typeof FieldBehavior): boolean {
  return hasOption(field, behaviorOption) && getOption(field, behaviorOption).includes(FieldBehavior[behavior]);
}

/** The field of that name, in lowerCamelCase or as the `.proto` file has it. */
export function fieldOf(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.jsonName === name) ?? message.fields.find((field) => field.name === name);
}

/** The message of a field whose own fields can be named apart: not of a list, nor of a map, nor a time. */
export function partsOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" && !isWellKnown(field.message) ? field.message : undefined;
}

/** Whether a message has a JSON form of its own, such as a time. */
export function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.");
}

/** The names under which values of an enum may be given: the whole ones, then those without what all begin with. */
export function enumNames(desc: DescEnum): Map<string, string> {
  const prefix = sharedPrefix(desc.values.map(({ name }) => name));
  const values = desc.values.filter(({ number }) => number !== 0);
  return new Map([
    ...values.map(({ name }): [string, string] => [name.slice(prefix.length), name]),
    ...values.flatMap((value): [string, string][] => {
      const others = [getOption(value, otherName), getOption(value, v1Name)].filter((name) => name !== "");
      return others.map((other): [string, string] => [other, value.name]);
    }),
    ...values.map(({ name }): [string, string] => [name, name]),
  ]);
}

/** The whole name of an enum's value, given by a name or by its number; undefined for one that it does not have. */
export function enumName(desc: DescEnum, given: Json): string | undefined {
  const byNumber = desc.values.find(({ number }) => String(number) === String(given));
  if (byNumber !== undefined) return byNumber.name;
  return enumNames(desc).get(String(given)) ?? desc.values.find(({ name }) => name === given)?.name;
}

function sharedPrefix(names: readonly string[]): string {
  const [first = "", ...others] = names;
  let end = first.lastIndexOf("_") + 1;
  while (end > 0 && !others.every((name) => name.startsWith(first.slice(0, end))))
    end = first.lastIndexOf("_", end - 2) + 1;
  return first.slice(0, end);
}

/** What a value of a field is in JSON when nothing was set; null for what can be absent. */
function emptyOf(field: DescField): Json {
  if (field.fieldKind === "list") return [];
  if (field.fieldKind === "map") return {};
  if (
    field.oneof !== undefined ||
    field.fieldKind === "message" ||
    field.presence === FeatureSet_FieldPresence.EXPLICIT
  )
    return null;
  if (field.fieldKind === "enum") return "";
  return field.scalar === ScalarType.BOOL ? false : field.scalar === ScalarType.STRING ? "" : "0";
}

/**
 * A value of a field in one form, so that equal ones are equal texts as JSON: numbers and durations as text, enums by
 * their whole names, nothing where a value is the same as none.
 */
export function normal(field: DescField, value: Json | undefined): Json {
  if (value === undefined || value === null) return emptyOf(field);
  if (field.fieldKind === "list") {
    const all = Array.isArray(value) ? value.map((each) => single(field, each)) : [];
    return field.listKind === "message" ? all : asSet(all);
  }
  if (field.fieldKind === "map") {
    const entries = isObject(value) ? Object.entries(value) : [];
    return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, single(field, v)]));
  }
  return single(field, value);
}

/** No list of plain values has an order that means something: the server may keep one in an order of its own. */
function asSet(values: readonly Json[]): Json[] {
  return [...new Map(values.map((each) => [JSON.stringify(each), each]))]
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, each]) => each);
}

/** A plain value as text: a number may be text, and bytes have two alphabets. */
function plain(field: DescField, value: Json): Json {
  const scalar = scalarOf(field);
  if (scalar === undefined || (typeof value !== "number" && typeof value !== "string")) return value;
  if (isInteger(scalar)) return integerOf(scalar, String(value)) ?? String(value);
  if (scalar === ScalarType.BYTES) return bytesOf(String(value)) ?? value;
  return typeof value === "number" ? String(value) : value;
}

function single(field: DescField, value: Json): Json {
  if (field.message !== undefined) {
    if (field.message.typeName === "google.protobuf.Duration") return durationOf(String(value)) ?? value;
    if (field.message.typeName === "google.protobuf.Timestamp") return new Date(String(value)).getTime();
    if (isWellKnown(field.message)) return plain(field, value);
    if (!isObject(value)) return value;
    return normalMessage(field.message, value);
  }
  if (field.enum !== undefined) {
    const name = enumName(field.enum, value) ?? String(value);
    return name === field.enum.values[0]?.name ? "" : name;
  }
  return plain(field, value);
}

/** A value as the API has it, without fields of messages that are empty or set by the server: what a file says. */
export function compact(field: DescField, value: Json): Json {
  if (Array.isArray(value)) return field.fieldKind === "list" ? value.map((each) => compactOne(field, each)) : value;
  if (field.fieldKind !== "map" || !isObject(value)) return compactOne(field, value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, compactOne(field, each)]));
}

function compactOne({ message }: DescField, value: Json): Json {
  if (message === undefined || isWellKnown(message) || !isObject(value)) return value;
  const found: JsonObject = {};
  for (const field of message.fields) {
    const each = value[field.jsonName];
    if (each !== undefined && !hasBehavior(field, "OUTPUT_ONLY") && !isEmpty(field, each))
      found[field.jsonName] = compact(field, each);
  }
  return found;
}

/** A message with the fields alone that are not empty, and not set by the server. */
function normalMessage(message: DescMessage, value: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const field of message.fields) {
    if (hasBehavior(field, "OUTPUT_ONLY")) continue;
    const each = normal(field, value[field.jsonName]);
    if (JSON.stringify(each) !== JSON.stringify(emptyOf(field))) found[field.jsonName] = each;
  }
  return found;
}

/** Whether a value is the one that a field has when nothing was set. */
export function isEmpty(field: DescField, value: Json | undefined): boolean {
  return JSON.stringify(normal(field, value)) === JSON.stringify(emptyOf(field));
}
