// What can be said of a new resource without the server: for a dry run, of what is below something that is not there
// yet.
import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { rule as ruleOption } from "@moorage/api/messages";
import { isObject } from "../api/json-fields.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { Failure } from "../command/failure.ts";
import { hasBehavior, isEmpty, partsOf } from "./fields.ts";

/** Throws a Failure for the first field that is missing, or whose text breaks the rule of its field. */
export function requireValid(message: DescMessage, fields: JsonObject, prefix = ""): void {
  for (const field of message.fields) {
    const value = fields[field.jsonName];
    const path = `${prefix}${field.jsonName}`;
    const isGiven = !isEmpty(field, value);
    if (!isGiven && field.oneof === undefined && hasBehavior(field, "REQUIRED"))
      throw new Failure("is required", { field: path });
    if (!isGiven || value === undefined) continue;
    const parts = partsOf(field);
    if (parts !== undefined && isObject(value)) requireValid(parts, value, `${path}.`);
    else requireRule(field, value, path);
  }
}

function requireRule(field: DescField, value: Json, path: string): void {
  if (!hasOption(field, ruleOption)) return;
  const { pattern, maxLength, message } = getOption(field, ruleOption);
  const length = typeof value === "string" ? [...value].length : Object.keys(value ?? {}).length;
  if (maxLength > 0 && length > maxLength) throw new Failure(`is longer than ${maxLength}`, { field: path });
  if (pattern === "" || typeof value !== "string" || new RegExp(`^(?:${pattern})$`, "su").test(value)) return;
  throw new Failure(message || `must match ${pattern}`, { field: path });
}
