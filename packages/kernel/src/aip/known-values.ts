import { type DescField, type DescMessage, type DescMethod, hasOption, type Message } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { type Fields, getField, isOutputOnly, violate } from "../lib/protojson/fields.ts";
import { optionOf } from "../lib/options.ts";
import { enumRule } from "../lib/protojson/read-scalars.ts";
import { durationRule, timestampRule } from "../lib/protojson/read-wellknown.ts";

/** Why a value of the field cannot be accepted; undefined when it can. */
type Rule = (value: unknown) => string | undefined;
interface Checked {
  field: DescField;
  /** The rule of the field's values, or the fields to check within its messages. */
  within: Rule | readonly Checked[];
}

const plans = new WeakMap<DescMessage, readonly Checked[]>();

/**
 * Throws INVALID_ARGUMENT for a request with a value that the binary form of a message can hold but its JSON form
 * cannot: the number of an enum that has no such value, a time or a duration out of range. The error is the one of
 * REST, whose reader refuses such values itself. Source: docs/contract.md, "Errors".
 */
export function requireKnownValues(method: DescMethod, message: Message): void {
  const plan = planOf(method.input);
  if (plan.length === 0) return;
  const bad: FieldViolation[] = [];
  const body = hasOption(method, httpOption) ? optionOf(method, httpOption).body : "*";
  for (const { field, within } of plan) {
    // As in REST: what the body holds is named relative to it, and query parameters have their names in the .proto.
    if (field.name === body) visitFields(message as Fields, { field, within }, "", bad, "jsonName", true);
    else visitFields(message as Fields, { field, within }, "", bad, body === "*" ? "jsonName" : "name", false);
  }
  if (bad.length > 0) throw invalidArgument(...bad);
}

function visitFields(
  message: Fields,
  { field, within }: Checked,
  at: string,
  bad: FieldViolation[],
  naming: "jsonName" | "name",
  isBody: boolean,
): void {
  const path = isBody ? "" : at === "" ? field[naming] : `${at}.${field[naming]}`;
  for (const [suffix, value] of valuesOf(field, getField(message, field))) {
    if (typeof within === "function") {
      const description = within(value);
      if (description !== undefined) violate(bad, path + suffix, description);
    } else for (const inner of within) visitFields(value as Fields, inner, path + suffix, bad, naming, false);
  }
}

/** Each value of a field, with what its path has after the field's name. */
function valuesOf(field: DescField, value: unknown): [suffix: string, value: unknown][] {
  if (value === undefined) return [];
  if (field.fieldKind === "list") return (value as unknown[]).map((each, index) => [`[${index}]`, each]);
  if (field.fieldKind === "map") return Object.entries(value as object).map(([key, each]) => [`.${key}`, each]);
  return [["", value]];
}

function planOf(desc: DescMessage): readonly Checked[] {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  const plan: Checked[] = [];
  // Kept before it is complete: a message may contain its own type.
  plans.set(desc, plan);
  for (const field of desc.fields) {
    const within = isOutputOnly(field) ? [] : checksOf(field);
    if (typeof within === "function" || within.length > 0) plan.push({ field, within });
  }
  return plan;
}

function checksOf(field: DescField): Rule | readonly Checked[] {
  if (field.enum !== undefined) {
    const { accepts, description } = enumRule(field.enum);
    return (value) => (accepts(value as number) ? undefined : description);
  }
  if (field.message === undefined) return [];
  switch (field.message.typeName) {
    case "google.protobuf.Timestamp":
      return (value) => timestampRule(value as Timestamp);
    case "google.protobuf.Duration":
      return (value) => durationRule(value as Duration);
    default:
      return field.message.file.proto.package === "google.protobuf" ? [] : planOf(field.message);
  }
}
