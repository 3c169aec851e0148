// The fields of messages as the command has them, out of their descriptors.
import { type DescEnum, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { field_behavior as behaviorOption, FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { other_name as otherName } from "@moorage/api/messages";
import type { Kind } from "../packages/cli/src/api/name-kinds.ts";
import type { FieldData } from "../packages/cli/src/resources/method-data.ts";
import type { FieldType } from "../packages/cli/src/resources/spec.ts";
import { KIND_OF_FIELD } from "./cli-nouns.ts";

/** A message, and how deep into the messages of its fields a command goes: 1 is its own fields alone. */
export type MessageUse = readonly [message: DescMessage, depth: number];

/** The fields of the messages and of those in them, by the messages' names. */
export function messagesOf(uses: readonly MessageUse[]): Record<string, FieldData[]> {
  const depths = new Map<DescMessage, number>();
  const note = (message: DescMessage, depth: number): void => {
    if ((depths.get(message) ?? 0) >= depth) return;
    depths.set(message, depth);
    if (depth > 1) for (const field of message.fields) innerOf(field).forEach((inner) => note(inner, depth - 1));
  };
  for (const [message, depth] of uses) note(message, depth);
  return Object.fromEntries(
    [...depths].map(([message, depth]) => [message.typeName, message.fields.map((field) => fieldData(field, depth))]),
  );
}

/** The message of a field that has fields of its own; of a map that of its values. */
function innerOf(field: DescField): DescMessage[] {
  const type = typeOf(field);
  return field.message !== undefined && (type === "message" || type === "map") ? [field.message] : [];
}

/** A field. `depth`: from 2 on with the name of its message. */
export function fieldData(field: DescField, depth = 1): FieldData {
  const behaviors = getOption(field, behaviorOption);
  const type = typeOf(field);
  const [inner] = innerOf(field);
  const ref = refOf(field);
  return {
    name: field.jsonName,
    type,
    ...(field.fieldKind === "list" && { repeated: true as const }),
    ...(behaviors.includes(FieldBehavior.REQUIRED) && { required: true as const }),
    ...(behaviors.includes(FieldBehavior.OUTPUT_ONLY) && { output: true as const }),
    ...(behaviors.includes(FieldBehavior.INPUT_ONLY) && { input: true as const }),
    help: COMMENTS[`${field.parent.typeName}.${field.name}`]?.replace(/(?<=[^A-Z]\.)\s.*$/s, "") ?? "",
    ...(field.enum && { values: valuesOf(field.enum), prefix: prefixOf(field.enum) }),
    ...(inner && depth > 1 && { of: inner.typeName }),
    ...(field.fieldKind === "map" && { valueType: valueTypeOf(field) }),
    ...(field.oneof && { oneof: field.oneof.name }),
    ...(ref && { ref }),
  };
}

/** The kind of the resource whose uid the field holds. */
export function refOf(field: DescField): Kind | undefined {
  if (field.scalar !== ScalarType.STRING || field.fieldKind !== "scalar") return undefined;
  return KIND_OF_FIELD[`${field.parent.name}.${field.name}`] ?? KIND_OF_FIELD[field.name];
}

function typeOf(field: DescField): FieldType {
  return field.fieldKind === "map" ? "map" : valueTypeOf(field);
}

function valueTypeOf(field: DescField): FieldType {
  if (field.enum !== undefined) return "enum";
  switch (field.message?.typeName) {
    case undefined:
      return scalarType(field.scalar);
    case "google.protobuf.Timestamp":
      return "timestamp";
    case "google.protobuf.Duration":
      return "duration";
    case "google.protobuf.FieldMask":
      return "string";
    case "google.protobuf.Struct":
    case "google.protobuf.Value":
      return "json";
    default:
      return "message";
  }
}

function scalarType(scalar: ScalarType | undefined): FieldType {
  switch (scalar) {
    case ScalarType.BOOL:
      return "bool";
    case ScalarType.INT32:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return "int32";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "double";
    case ScalarType.BYTES:
      return "bytes";
    case ScalarType.STRING:
      return "string";
    default:
      return "int64";
  }
}

/** The values that mean something, by the other name that JSON knows them by, if they have one. */
function valuesOf(desc: DescEnum): string[] {
  return desc.values.filter(({ number }) => number !== 0).map((value) => getOption(value, otherName) || value.name);
}

/** What all values' names begin with. Source: the style guide of Protocol Buffers. */
function prefixOf(desc: DescEnum): string {
  const prefix = `${desc.name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase()}_`;
  return desc.values.every(({ name }) => name.startsWith(prefix)) ? prefix : "";
}
