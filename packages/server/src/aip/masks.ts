import { clone, type DescField, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { camelCase } from "./order.ts";
import { hasBehavior } from "./validate.ts";

const MAX_PATHS = 256;

/**
 * Applies an update to the current resource. The mask's paths are in camelCase or snake_case; `*` replaces every
 * updatable field; without a mask, the populated fields are changed. Output-only fields are never taken from the patch.
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
    for (const field of updatable) if (from.isSet(field)) copy(from, into, field);
  } else if (mask.paths.includes("*")) {
    if (mask.paths.length > 1) throw wrong([{ field: "updateMask", description: "* must be the only path" }]);
    for (const field of updatable) copy(from, into, field);
  } else {
    if (mask.paths.length > MAX_PATHS)
      throw wrong([{ field: "updateMask", description: `at most ${MAX_PATHS} paths` }]);
    const resolved = mask.paths.map((path) => resolve(schema, path));
    const violations = resolved.flatMap((found) => ("violation" in found ? [found.violation] : []));
    if (violations.length > 0) throw wrong(violations);
    for (const found of resolved) if ("fields" in found) copyPath(from, into, found.fields);
  }
  return merged;
}

function wrong(violations: FieldViolation[]): Error {
  return invalidArgument(...violations);
}

function isFixed(field: DescField): boolean {
  return hasBehavior(field, FieldBehavior.OUTPUT_ONLY) || hasBehavior(field, FieldBehavior.IMMUTABLE);
}

function resolve(schema: DescMessage, path: string): { fields: DescField[] } | { violation: FieldViolation } {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = schema;
  for (const part of path.trim().split(".")) {
    const name = camelCase(part);
    const field: DescField | undefined = at?.fields.find((candidate) => candidate.jsonName === name);
    if (field === undefined) return { violation: { field: "updateMask", description: `there is no field ${path}` } };
    if (isFixed(field)) return { violation: { field: "updateMask", description: `${path} cannot be changed` } };
    fields.push(field);
    // A path cannot name a part of a timestamp or a duration.
    at =
      field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.")
        ? field.message
        : undefined;
  }
  return { fields };
}

function copyPath(from: ReflectMessage, into: ReflectMessage, fields: DescField[]): void {
  const [field, ...rest] = fields;
  if (field === undefined) return;
  if (rest.length === 0 || field.fieldKind !== "message") return copy(from, into, field);
  // For an unset field, `get` returns a message that is not attached to `into`, so that it has to be set afterwards.
  const nested = into.get(field);
  copyPath(from.get(field), nested, rest);
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
