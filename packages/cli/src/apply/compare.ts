// What differs between a resource in a file and the same one on the server.
import type { DescMessage } from "@bufbuild/protobuf";
import { isObject } from "../api/json-fields.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { fieldOf, hasBehavior, normal, partsOf } from "./fields.ts";

/** A field that differs. */
export interface Change {
  /** The field, as a mask names it. */
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** Whether the API does not let it be changed. */
  readonly isFixed: boolean;
}

/**
 * The fields of `wanted` that differ from `there`: fields that it does not have are left alone, in messages too; lists
 * and maps are compared whole. What only goes in, such as a secret, is not compared.
 */
export function changesOf(message: DescMessage, wanted: JsonObject, there: JsonObject, prefix = ""): Change[] {
  return Object.entries(wanted).flatMap(([name, after]): Change[] => {
    const field = fieldOf(message, name);
    if (field === undefined || hasBehavior(field, "INPUT_ONLY")) return [];
    const path = `${prefix}${name}`;
    const before = there[name];
    const parts = partsOf(field);
    if (parts !== undefined && isObject(after) && isObject(before) && Object.keys(after).length > 0)
      return changesOf(parts, after, before, `${path}.`);
    if (JSON.stringify(normal(field, after)) === JSON.stringify(normal(field, before))) return [];
    return [{ path, before, after, isFixed: hasBehavior(field, "IMMUTABLE") }];
  });
}

/** The value at a path of fields. */
export function valueAt(fields: JsonObject, path: string): Json | undefined {
  let at: Json | undefined = fields;
  for (const part of path.split(".")) at = isObject(at) ? at[part] : undefined;
  return at;
}

/** Whether one path is the other, or one of its parts. */
export function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`);
}
