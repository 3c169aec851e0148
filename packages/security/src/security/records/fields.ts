import { isPurl, parsedPurl, writePurl } from "@moorage/kernel/lib/purls";
import { isObject } from "@moorage/kernel/lib/json";
import { UnreadableRecord } from "./record.ts";

// Reading of untrusted JSON. `field` is the path of the value in its document, such as `statements[2].status`; errors
// name it.

export function objectAt(value: unknown, field: string): Record<string, unknown> {
  if (!isObject(value)) throw new UnreadableRecord(`${field}: must be an object`);
  return value;
}

/** The list; an empty one when there is none. */
export function listAt(value: unknown, field: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableRecord(`${field}: must be a list`);
  return value;
}

/** A text that is not empty. */
export function textAt(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "") throw new UnreadableRecord(`${field}: must be a text`);
  return value;
}

/** The text; undefined when there is none. */
export function textIfAny(value: unknown, field: string): string | undefined {
  return value === undefined || value === null ? undefined : textAt(value, field);
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** A date, or a time with its zone, in milliseconds since 1970. Source: RFC 3339. */
export function timeAt(value: unknown, field: string): number {
  const ms = typeof value === "string" && TIME.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(ms)) throw new UnreadableRecord(`${field}: ${JSON.stringify(value)?.slice(0, 40)} is not a time`);
  return ms;
}

/** A product without its version: of a purl what identifies the package. Source: the purl specification. */
export function productKey(product: string): string {
  const purl = isPurl(product) ? parsedPurl(product) : undefined;
  if (purl === undefined || !product.isWellFormed()) return product;
  const { type, namespace, name } = purl;
  return writePurl({ type, namespace, name });
}
