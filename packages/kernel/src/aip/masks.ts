import { clone, type DescField, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { PRESENT } from "../lib/protojson/field-mask.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { camelCase } from "./order.ts";
import { hasBehavior } from "../lib/protojson/fields.ts";

const MAX_PATHS = 256;

/**
 * Applies an update to the current resource. The mask's paths are in camelCase or snake_case; `*` replaces every
 * updatable field. Without a mask the leaves that are populated are changed: fields of nested messages by themselves,
 * lists and maps as a whole. Output-only fields are never taken from the patch.
 * Throws INVALID_ARGUMENT on `updateMask` for a path that does not exist or that names an output-only or immutable
 * field. Source: AIP-134, AIP-161, docs/contract.md, "Updating".
 */
export function applyMask<D extends DescMessage>(
  schema: D,
  current: MessageShape<D>,
  patch: Message,
  mask: FieldMask | undefined,
): MessageShape<D> {
  const merged = clone(schema, current);
  const into = reflect(schema, merged);
  const from = reflect(schema, patch as MessageShape<D>);
  const updatable = schema.fields.filter((field) => !isFixed(field));
  if (mask === undefined) {
    mergeLeaves(from, into);
  } else if (mask.paths.includes("*")) {
    if (mask.paths.length > 1) throw wrong([{ field: "updateMask", description: "* must be the only path" }]);
    for (const field of updatable) copy(from, into, field);
  } else {
    if (mask.paths.length > MAX_PATHS)
      throw wrong([{ field: "updateMask", description: `at most ${MAX_PATHS} paths` }]);
    const resolved = mask.paths.map((path) => resolve(schema, path));
    const violations = resolved.flatMap((found) => ("violation" in found ? [found.violation] : []));
    if (violations.length > 0) throw wrong(violations);
    for (const found of resolved)
      if ("fields" in found) copyPath(from, into, found.fields, found.isPresence === true ? mergeField : copy);
  }
  return merged;
}

function wrong(violations: FieldViolation[]): Error {
  return invalidArgument(...violations);
}

function isFixed(field: DescField): boolean {
  return hasBehavior(field, FieldBehavior.OUTPUT_ONLY) || hasBehavior(field, FieldBehavior.IMMUTABLE);
}

type Resolved = { fields: DescField[]; isPresence?: true } | { violation: FieldViolation };

function resolve(schema: DescMessage, path: string): Resolved {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = schema;
  const parts = path.trim().split(".");
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    if (part === PRESENT && index > 0 && isLast && at !== undefined) return { fields, isPresence: true };
    const name = camelCase(part);
    const field: DescField | undefined = at?.fields.find((candidate) => candidate.jsonName === name);
    if (field === undefined) return { violation: { field: "updateMask", description: `there is no field ${path}` } };
    if (isFixed(field)) return { violation: { field: "updateMask", description: `${path} cannot be changed` } };
    fields.push(field);
    at = nestedIn(field);
  }
  return { fields };
}

/** The message of a field whose parts a path may name. Those of a timestamp or a duration it may not. */
function nestedIn(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.")
    ? field.message
    : undefined;
}

function mergeLeaves(from: ReflectMessage, into: ReflectMessage): void {
  for (const field of from.desc.fields) if (!isFixed(field) && from.isSet(field)) mergeField(from, into, field);
}

/** Sets what is populated below the field. A message that has nothing populated is set where there is none. */
function mergeField(from: ReflectMessage, into: ReflectMessage, field: DescField): void {
  if (field.fieldKind !== "message" || nestedIn(field) === undefined) return copy(from, into, field);
  const nested = into.get(field);
  mergeLeaves(from.get(field), nested);
  into.set(field, nested);
}

function copyPath(
  from: ReflectMessage,
  into: ReflectMessage,
  fields: DescField[],
  last: (from: ReflectMessage, into: ReflectMessage, field: DescField) => void,
): void {
  const [field, ...rest] = fields;
  if (field === undefined) return;
  if (rest.length === 0 || field.fieldKind !== "message") return last(from, into, field);
  // For an unset field, `get` returns a message that is not attached to `into`, so that it has to be set afterwards.
  const nested = into.get(field);
  copyPath(from.get(field), nested, rest, last);
  into.set(field, nested);
}

function copy(from: ReflectMessage, into: ReflectMessage, field: DescField): void {
  if (field.oneof !== undefined && !from.isSet(field)) {
    if (into.oneofCase(field.oneof)?.number === field.number) into.clear(field);
  } else if (from.isSet(field)) {
    into.set(field, from.get(field));
  } else {
    into.clear(field);
  }
}

/** Whether an update names the field, in camelCase, or replaces all: then it is set, also to nothing. */
export function isNamed(mask: FieldMask | undefined, field: string): boolean {
  return mask?.paths.some((path) => [field, "*"].includes(camelCase(path.trim()))) ?? false;
}
