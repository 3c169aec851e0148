import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { rule as ruleOption } from "@moorage/api/messages";
import { FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { isV1 } from "@moorage/kernel/core/api-version";
import { hasBehavior } from "@moorage/kernel/lib/protojson/fields";
import { isWellKnown } from "@moorage/kernel/lib/protojson/write-wellknown";

const INTEGER = "^-?(?:0|[1-9][0-9]{0,18})$";
const COUNT = "^(?:0|[1-9][0-9]{0,18})$";

/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses unchanged. */
export type Schema = Record<string, unknown>;
/** Which form of a message a schema describes: as the server answers it, or as a client may send it. */
type Form = "answer" | "input";
/** The comments of the `.proto` files on messages, fields, enums and methods, by full name. */
export type Comments = Readonly<Record<string, string>>;

export interface Schemas {
  /** The reference to a message's schema, which is made at the first call. */
  refOf(message: DescMessage, form: Form): Schema;
  /** The JSON names of the fields that a client must send. */
  requiredOf(message: DescMessage): string[];
  /** The schema of the message as a client may send it, with only these required fields. */
  relaxed(message: DescMessage, required: readonly string[]): Schema;
  /** The schema of one field's value. */
  ofField(field: DescField, form: Form): Schema;
  /** All schemas that were referred to, by their names below `#/components/schemas`. */
  components: Record<string, Schema>;
}

/**
 * Collects the schemas of messages as the REST handler reads and writes them. Source: docs/contract.md, "JSON";
 * ProtoJSON.
 */
export function createSchemas(comments: Comments): Schemas {
  const components: Record<string, Schema> = {};

  const refOf = (message: DescMessage, form: Form): Schema => {
    const name = `${message.typeName.replace(/^moorage\./, "")}${form === "input" ? ".Input" : ""}`;
    if (components[name] === undefined) {
      // Registered before it is made: a message may contain itself.
      components[name] = {};
      components[name] = messageSchema(message, form);
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const messageSchema = (message: DescMessage, form: Form): Schema => {
    const fields = message.fields.filter((field) => form === "input" || !hasBehavior(field, FieldBehavior.INPUT_ONLY));
    const required =
      form === "answer"
        ? fields.filter((field) => !isV1(message) && isAlwaysPrinted(field)).map((field) => field.jsonName)
        : requiredOf(message);
    const needed = neededMember(message);
    const choices = message.oneofs.flatMap((oneof) => pairsOf(oneof.fields.map((field) => field.jsonName)));
    return {
      type: "object",
      ...described(message.typeName),
      properties: Object.fromEntries(
        fields.map((field) => [
          field.jsonName,
          { ...described(`${message.typeName}.${field.name}`), ...behavior(field), ...ofField(field, form) },
        ]),
      ),
      ...(required.length > 0 && { required }),
      ...(choices.length > 0 && { allOf: choices.map((pair) => ({ not: { required: pair } })) }),
      ...(form === "input" && needed.length > 0 && { anyOf: needed.map((name) => ({ required: [name] })) }),
      additionalProperties: false,
    };
  };

  const ofField = (field: DescField, form: Form): Schema => {
    if (field.fieldKind === "map")
      return {
        type: "object",
        ...keyRule(field.mapKey),
        additionalProperties: valueSchema(field, form),
        ...bound(field, "maxProperties"),
      };
    if (field.fieldKind === "list") {
      const isNeeded = form === "input" && hasBehavior(field, FieldBehavior.REQUIRED);
      return {
        type: "array",
        items: valueSchema(field, form),
        ...(isNeeded && { minItems: 1 }),
        ...bound(field, "maxItems"),
      };
    }
    return { ...valueSchema(field, form), ...textRule(field, form), ...countRule(field, form) };
  };

  const valueSchema = (field: DescField, form: Form): Schema => {
    if (field.message !== undefined)
      return isWellKnown(field.message) ? wellKnown(field.message) : refOf(field.message, form);
    if (field.enum !== undefined) return enumSchema(field.enum, form, hasBehavior(field, FieldBehavior.REQUIRED));
    return scalarSchema(field.scalar);
  };

  const enumSchema = (desc: DescEnum, form: Form, isRequired: boolean): Schema => {
    // Zero is the same as no value, which a required field must not have.
    const values = form === "input" && isRequired ? desc.values.filter(({ number }) => number !== 0) : desc.values;
    const names = values.map((value) => value.name);
    // An enum number without a name in this version is written as a number.
    return form === "answer"
      ? { anyOf: [{ type: "string", enum: names }, { type: "integer" }] }
      : { type: "string", enum: names };
  };

  const described = (name: string): Schema => (comments[name] === undefined ? {} : { description: comments[name] });
  const relaxed = (message: DescMessage, required: readonly string[]): Schema => {
    const { required: _, anyOf: __, ...schema } = messageSchema(message, "input");
    return { ...schema, ...(required.length > 0 && { required }) };
  };
  return { refOf, requiredOf, relaxed, ofField, components };
}

/** The members of a oneof of which one is needed; empty where none is. No message has two such oneofs. */
function neededMember(message: DescMessage): string[] {
  const needed = message.oneofs.find(
    ({ fields }) => fields.length > 1 && fields.some((field) => hasBehavior(field, FieldBehavior.REQUIRED)),
  );
  return needed?.fields.map((field) => field.jsonName) ?? [];
}

function requiredOf(message: DescMessage): string[] {
  return message.fields
    .filter(
      (field) =>
        hasBehavior(field, FieldBehavior.REQUIRED) && !(field.oneof !== undefined && field.oneof.fields.length > 1),
    )
    .map((field) => field.jsonName);
}

/** Whether every answer has the field, even at its default. */
export function isAlwaysPrinted(field: DescField): boolean {
  if (field.oneof !== undefined || hasBehavior(field, FieldBehavior.INPUT_ONLY)) return false;
  if (field.fieldKind === "list" || field.fieldKind === "map") return true;
  return field.message === undefined && !field.proto.proto3Optional;
}

function behavior(field: DescField): Schema {
  return {
    ...(hasBehavior(field, FieldBehavior.OUTPUT_ONLY) && { readOnly: true }),
    ...(hasBehavior(field, FieldBehavior.INPUT_ONLY) && { writeOnly: true }),
  };
}

/** Rules apply to input only: stored values may be older than a rule. */
function textRule(field: DescField, form: Form): Schema {
  if (form === "answer" || field.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) return {};
  const isRequired = hasBehavior(field, FieldBehavior.REQUIRED);
  const { pattern, maxLength } = hasOption(field, ruleOption)
    ? getOption(field, ruleOption)
    : { pattern: "", maxLength: 0 };
  return {
    ...(isRequired && { minLength: 1 }),
    ...(pattern !== "" && { pattern: isRequired ? `^(?:${pattern})$` : `^(?:${pattern})?$` }),
    ...(maxLength > 0 && { maxLength }),
  };
}

// Numbers that every method takes from zero on.
const COUNTS: ReadonlySet<string> = new Set(["page_size", "skip", "keep_last"]);

function countRule(field: DescField, form: Form): Schema {
  if (form !== "input" || !COUNTS.has(field.name)) return {};
  // Integers of 64 bits are text.
  return field.scalar === ScalarType.INT64 ? { pattern: COUNT } : { minimum: 0 };
}

/** Keys of a JSON object are strings: those of integers have their form. */
function keyRule(key: ScalarType): Schema {
  return key === ScalarType.STRING ? {} : { propertyNames: { pattern: INTEGER } };
}

function bound(field: DescField, name: "maxItems" | "maxProperties"): Schema {
  const { maxLength } = hasOption(field, ruleOption) ? getOption(field, ruleOption) : { maxLength: 0 };
  return maxLength > 0 ? { [name]: maxLength } : {};
}

function wellKnown(desc: DescMessage): Schema {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    case "google.protobuf.Duration":
      return { type: "string", pattern: "^-?[0-9]{1,12}(?:\\.[0-9]{1,9})?s$", examples: ["3600s"] };
    case "google.protobuf.FieldMask":
      return { type: "string", examples: ["description"] };
    case "google.protobuf.Struct":
      return { type: "object" };
    default:
      throw new Error(`${desc.typeName} has no schema`);
  }
}

function scalarSchema(scalar: ScalarType | undefined): Schema {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "int64", minimum: 0, maximum: 2 ** 32 - 1 };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    // JSON numbers do not hold 64 bits everywhere. Source: ProtoJSON.
    default:
      return { type: "string", format: "int64", pattern: INTEGER };
  }
}

/** Every pair of the names. */
function pairsOf(names: readonly string[]): [string, string][] {
  return names.flatMap((one, at) => names.slice(at + 1).map((other): [string, string] => [one, other]));
}
