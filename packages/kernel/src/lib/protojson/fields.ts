import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { field_behavior as behaviorOption, FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import type { FieldViolation } from "../../errors.ts";
import { optionOf } from "../options.ts";

/** The runtime form of a generated message: an object with one property for each field, and one for each oneof. */
export type Fields = Message & Record<string, unknown>;
/** The value of the property of a oneof. */
export interface OneofValue {
  case: string | undefined;
  value?: unknown;
}

// Violations beyond this number are not reported.
const MAX_VIOLATIONS = 100;
// How many characters of an unknown name are repeated to the caller.
const MAX_NAME_LENGTH = 128;

/** Records an invalid field, up to MAX_VIOLATIONS. */
export function violate(bad: FieldViolation[], field: string, description: string): void {
  if (bad.length < MAX_VIOLATIONS) bad.push({ field, description });
}

/** A name from the request, in a form that is safe to repeat in an error. */
export function shown(name: string): string {
  if (name === "") return '""';
  const text = name.toWellFormed();
  return text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}…`.toWellFormed() : text;
}

export function isOutputOnly(field: DescField): boolean {
  return hasBehavior(field, FieldBehavior.OUTPUT_ONLY);
}

export function isInputOnly(field: DescField): boolean {
  return hasBehavior(field, FieldBehavior.INPUT_ONLY);
}

/** Whether the field's value is a secret, which logs and events leave out. */
export function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}

/** Whether updates may change the field at all. */
export function isUpdatable(field: DescField): boolean {
  return !isOutputOnly(field) && !hasBehavior(field, FieldBehavior.IMMUTABLE);
}

/** Whether a field has the behavior (REQUIRED, OUTPUT_ONLY, INPUT_ONLY, IMMUTABLE). Source: AIP-203. */
export function hasBehavior(field: DescField, behavior: FieldBehavior): boolean {
  return optionOf(field, behaviorOption).includes(behavior);
}

/** The field with that JSON name or proto name. */
export function fieldNamed(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}

/** The value of a field. Undefined for an unset member of a oneof. */
export function getField(message: Fields, field: DescField): unknown {
  if (field.oneof === undefined) return message[field.localName];
  const chosen = message[field.oneof.localName] as OneofValue;
  return chosen.case === field.localName ? chosen.value : undefined;
}

/**
 * Sets a field. When another member of the field's oneof is already set, sets nothing and returns that member's name.
 */
export function setField(message: Fields, field: DescField, value: unknown): string | undefined {
  if (field.oneof === undefined) {
    message[field.localName] = value;
    return undefined;
  }
  const chosen = message[field.oneof.localName] as OneofValue;
  if (chosen.case !== undefined && chosen.case !== field.localName)
    return field.oneof.fields.find((member) => member.localName === chosen.case)?.jsonName;
  message[field.oneof.localName] = { case: field.localName, value };
  return undefined;
}
