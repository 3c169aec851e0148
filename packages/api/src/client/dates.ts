import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";

type Whole = bigint | boolean | number | string | symbol | null | undefined | Uint8Array | Date;

/** A message whose timestamps are Dates, at every depth. */
export type WithDates<T> = T extends Timestamp
  ? Date
  : T extends Whole
    ? T
    : T extends readonly (infer Item)[]
      ? WithDates<Item>[]
      : { [Key in keyof T]: WithDates<T[Key]> };

/** A request in which a Date may stand wherever the message has a timestamp. */
export type OrDates<T> = T extends Whole
  ? T
  : T extends readonly (infer Item)[]
    ? OrDates<Item>[]
    : { [Key in keyof T]: OrDates<T[Key]> | (Timestamp extends NonNullable<T[Key]> ? Date : never) };

/** A copy with every Timestamp replaced by a Date, to the millisecond. */
export function withDates(value: unknown): unknown {
  return mapped(value, (inner) =>
    (inner as { $typeName?: string }).$typeName === "google.protobuf.Timestamp"
      ? timestampDate(inner as Timestamp)
      : undefined,
  );
}

/** A copy with every Date replaced by a Timestamp. */
export function withTimestamps(value: unknown): unknown {
  return mapped(value, (inner) => (inner instanceof Date ? timestampFromDate(inner) : undefined));
}

/** A copy in which `replace` has been asked about every object; for undefined, what is in the object is copied. */
function mapped(value: unknown, replace: (inner: object) => unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((item) => mapped(item, replace));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner, replace)]));
}
