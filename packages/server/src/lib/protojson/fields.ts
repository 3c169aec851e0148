import { type DescField, type DescMessage, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { field_behavior as behaviorOption, FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import type { FieldViolation } from "../../errors.ts";

/** A generated message seen as what it is at run time: an object with one property a field, and one a oneof. */
export type Fields = Message & Record<string, unknown>;
/** The value of a oneof's property. */
export interface OneofValue {
  case: string | undefined;
  value?: unknown;
}

// So many violations are told; whoever sends more has seen enough.
const MAX_VIOLATIONS = 100;
// So much of an unknown name is repeated to the caller.
const MAX_NAME_LENGTH = 128;

/** Notes one bad field, up to a hundred. */
export function violate(bad: FieldViolation[], field: string, description: string): void {
  if (bad.length < MAX_VIOLATIONS) bad.push({ field, description });
}

/** A name the caller made up, in a form that can be told back. */
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

/** Whether an update may change the field at all. */
export function isUpdatable(field: DescField): boolean {
  return !isOutputOnly(field) && !hasBehavior(field, FieldBehavior.IMMUTABLE);
}

function hasBehavior(field: DescField, behavior: FieldBehavior): boolean {
  return hasOption(field, behaviorOption) && getOption(field, behaviorOption).includes(behavior);
}

/** The field of that JSON name or proto name. */
export function fieldNamed(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}

/** The value of a field; undefined when it is a oneof's member that is not set. */
export function getField(message: Fields, field: DescField): unknown {
  if (field.oneof === undefined) return message[field.localName];
  const chosen = message[field.oneof.localName] as OneofValue;
  return chosen.case === field.localName ? chosen.value : undefined;
}

/**
 * Sets a field. Answers the member that is set already when the field's oneof is taken by another, and sets nothing
 * then.
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
