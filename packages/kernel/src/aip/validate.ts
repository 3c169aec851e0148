import { create, type DescField, type DescMessage, hasOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type Rule, rule as ruleOption } from "@moorage/api/messages";
import { FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { compilePattern } from "../lib/patterns.ts";
import { hasBehavior } from "../lib/protojson/fields.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { optionOf } from "../lib/options.ts";

/**
 * Checks a message, with its nested messages, against its fields' options: REQUIRED and the rules. Returns every
 * violation; field names are in camelCase and relative to the message. Output-only fields are ignored.
 */
export function violationsOf(schema: DescMessage, message: Message, path = ""): FieldViolation[] {
  return visit(reflect(schema, message), path);
}

/** Throws INVALID_ARGUMENT with all the violations, if there are any. */
export function validate(schema: DescMessage, message: Message, path = ""): void {
  const violations = violationsOf(schema, message, path);
  if (violations.length > 0) throw invalidArgument(...violations);
}

/**
 * Throws INVALID_ARGUMENT for what a change makes wrong. A stored value that the rules of an earlier version allowed,
 * and that the change leaves as it is, is no obstacle to changing other fields.
 */
export function validateChange(schema: DescMessage, before: Message, after: Message): void {
  const found = violationsOf(schema, after);
  if (found.length === 0) return;
  const [from, to] = [reflect(schema, before), reflect(schema, after)];
  const kept = new Set(
    schema.fields
      .filter((field) => field.fieldKind === "scalar" && from.get(field) === to.get(field))
      .map(({ jsonName }) => jsonName),
  );
  const made = found.filter(({ field }) => !kept.has(field));
  if (made.length > 0) throw invalidArgument(...made);
}

/**
 * Throws INVALID_ARGUMENT when a request lacks a message that it must have, such as the resource to create: to the
 * services it would look like one whose fields are all empty. Blames what such a resource lacks, as for an empty one,
 * and the field itself where it lacks nothing.
 */
export function requireMessages(request: DescMessage, message: Message): void {
  const needed = planOf(request).filter(({ field, required }) => required && field.fieldKind === "message");
  if (needed.length === 0) return;
  const given = reflect(request, message);
  const violations = needed.flatMap(({ field }) => {
    if (given.isSet(field) || field.message === undefined) return [];
    const lacking = violationsOf(field.message, create(field.message));
    return lacking.length > 0 ? lacking : [{ field: field.jsonName, description: "is required" }];
  });
  if (violations.length > 0) throw invalidArgument(...violations);
}

/** A field to check, with its options. The checks of each message type are cached, because reading options is slow. */
interface Checked {
  field: DescField;
  required: boolean;
  rule: Rule | undefined;
}
const plans = new WeakMap<DescMessage, Checked[]>();

function planOf(desc: DescMessage): Checked[] {
  const known = plans.get(desc);
  if (known) return known;
  const plan = desc.fields
    .filter((field) => !hasBehavior(field, FieldBehavior.OUTPUT_ONLY))
    .map((field) => ({
      field,
      required: hasBehavior(field, FieldBehavior.REQUIRED),
      rule: hasOption(field, ruleOption) ? optionOf(field, ruleOption) : undefined,
    }));
  plans.set(desc, plan);
  return plan;
}

function visit(message: ReflectMessage, path: string): FieldViolation[] {
  return planOf(message.desc).flatMap((checked) => visitField(message, checked, `${path}${checked.field.jsonName}`));
}

function visitField(message: ReflectMessage, { field, required, rule }: Checked, path: string): FieldViolation[] {
  if (!message.isSet(field))
    return required && !isReplaced(message, field) ? [{ field: path, description: "is required" }] : [];
  if (field.fieldKind === "message") return visit(message.get(field), `${path}.`);
  if (field.fieldKind === "list") {
    const list = message.get(field);
    const items = [...list].flatMap((item, at) =>
      field.listKind === "message"
        ? visit(item as ReflectMessage, `${path}[${at}].`)
        : withoutNull(item, `${path}[${at}]`),
    );
    return [...tooMany(list.size, rule, path), ...items];
  }
  if (field.fieldKind === "map") {
    const map = message.get(field);
    return [
      ...tooMany(map.size, rule, path),
      ...[...map].flatMap(([key, value]) => [
        ...withoutNull(key, path),
        ...withoutNull(value, `${path}.${String(key)}`),
      ]),
    ];
  }
  const value: unknown = message.get(field);
  if (field.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING || typeof value !== "string") return [];
  if (value === "" && required) return [{ field: path, description: "is required" }];
  const nulls = withoutNull(value, path);
  if (nulls.length > 0) return nulls;
  return rule === undefined || value === "" ? [] : ruled(value, rule, path);
}

/** Whether another member of its oneof stands in the field's place. */
function isReplaced(message: ReflectMessage, { oneof }: DescField): boolean {
  return oneof !== undefined && message.oneofCase(oneof) !== undefined;
}

// The databases do not store it alike: PostgreSQL rejects a null character, and a C string ends at it.
function withoutNull(value: unknown, path: string): FieldViolation[] {
  return typeof value === "string" && value.includes("\0")
    ? [{ field: path, description: "must not contain a null character" }]
    : [];
}

function tooMany(size: number, rule: Rule | undefined, path: string): FieldViolation[] {
  return rule !== undefined && rule.maxLength > 0 && size > rule.maxLength
    ? [{ field: path, description: `must have at most ${rule.maxLength} entries` }]
    : [];
}

function ruled(value: string, rule: Rule, path: string): FieldViolation[] {
  if (rule.maxLength > 0 && isLonger(value, rule.maxLength))
    return [{ field: path, description: `must have at most ${rule.maxLength} characters` }];
  if (rule.pattern === "" || compilePattern(rule.pattern).matches(value)) return [];
  return [{ field: path, description: rule.message || `must match the regular expression ^${rule.pattern}$` }];
}

/** Whether the text has more characters than that: Unicode code points, as in JSON Schema. */
function isLonger(value: string, maxLength: number): boolean {
  if (value.length <= maxLength) return false;
  let length = 0;
  for (const _ of value) if ((length += 1) > maxLength) return true;
  return false;
}
