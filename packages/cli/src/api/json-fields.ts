// Fields of the API's JSON, where they may be absent.
import type { Json, JsonObject } from "./rest.ts";

/** A text; empty without one. Numbers are written as text. */
export function textIn(item: JsonObject | undefined, field: string): string {
  const value = item?.[field];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** A number, also where the API writes it as text (int64); 0 without one. */
export function numberIn(item: JsonObject | undefined, field: string): number {
  const value = Number(item?.[field]);
  return Number.isFinite(value) ? value : 0;
}

/** An object; empty without one. */
export function objectIn(item: JsonObject | undefined, field: string): JsonObject {
  const value = item?.[field];
  return isObject(value) ? value : {};
}

/** The objects of a list; none without one. */
export function objectsIn(item: JsonObject | undefined, field: string): JsonObject[] {
  const value = item?.[field];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of a list; none without one. */
export function textsIn(item: JsonObject | undefined, field: string): string[] {
  const value = item?.[field];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

/** The name of an enum's value in small letters and without what all its values begin with: `critical`. */
export function wordIn(item: JsonObject | undefined, field: string, prefix: string): string {
  return textIn(item, field).replace(prefix, "").toLowerCase().replaceAll("_", " ");
}

/** Whether a value is an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
