import { isObject } from "@moorage/kernel/lib/json";
import { AttachedError } from "./types.ts";

// Reading of documents that strangers made: what is not of the expected form counts as not stated, except where a
// document cannot be read without it.

export function objectsIn(value: unknown, field: string): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new AttachedError(`${field}: must be a list`);
  return value.filter(isObject);
}

/** The text; empty when there is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Milliseconds since 1970; 0 when it is no time. */
export function timeOf(value: unknown): number {
  const ms = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0;
}
