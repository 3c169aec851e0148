// Values of fields as proto JSON reads them, in the one form that is compared and sent.
import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { Json } from "../api/rest.ts";
import { durationMs } from "../command/duration.ts";

const SECOND = 1_000_000_000n;
const PROTO_DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const MOST_MS = 1e15;

/**
 * A duration as proto JSON has it, such as `90s` or `1.5s`, also of `15m`, `1h30m` or `7d`; undefined for other text.
 */
export function durationOf(text: string): string | undefined {
  const [, sign, seconds, fraction = ""] = PROTO_DURATION.exec(text) ?? [];
  if (seconds !== undefined)
    return durationText((sign === "-" ? -1n : 1n) * (BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, "0"))));
  const ms = durationMs(text);
  return ms === undefined || ms > MOST_MS ? undefined : durationText(BigInt(Math.round(ms * 1e6)));
}

function durationText(nanos: bigint): string {
  const [sign, size] = nanos < 0n ? ["-", -nanos] : ["", nanos];
  let fraction = (size % SECOND).toString().padStart(9, "0");
  while (fraction.endsWith("0")) fraction = fraction.slice(0, -1);
  return `${sign}${size / SECOND}${fraction === "" ? "" : `.${fraction}`}s`;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** A time of RFC 3339 as it is; of another form that a date can be read from, in UTC; undefined for other text. */
export function timeOf(text: string): string | undefined {
  if (text.length > 64 || Number.isNaN(Date.parse(text))) return undefined;
  return TIME.test(text) ? text : new Date(text).toISOString();
}

const WRAPPED: Readonly<Record<string, ScalarType>> = {
  "google.protobuf.BoolValue": ScalarType.BOOL,
  "google.protobuf.BytesValue": ScalarType.BYTES,
  "google.protobuf.DoubleValue": ScalarType.DOUBLE,
  "google.protobuf.FloatValue": ScalarType.FLOAT,
  "google.protobuf.Int32Value": ScalarType.INT32,
  "google.protobuf.Int64Value": ScalarType.INT64,
  "google.protobuf.StringValue": ScalarType.STRING,
  "google.protobuf.UInt32Value": ScalarType.UINT32,
  "google.protobuf.UInt64Value": ScalarType.UINT64,
};

/** The plain type of a field's values, also of those that a message wraps; undefined for messages and enums. */
export function scalarOf({ message, scalar }: DescField): ScalarType | undefined {
  return message === undefined ? scalar : WRAPPED[message.typeName];
}

const [INT32, UINT32, INT64, UINT64] = [
  [-(2n ** 31n), 2n ** 31n - 1n],
  [0n, 2n ** 32n - 1n],
  [-(2n ** 63n), 2n ** 63n - 1n],
  [0n, 2n ** 64n - 1n],
] as const;
const RANGES: ReadonlyMap<ScalarType, readonly [bigint, bigint]> = new Map([
  [ScalarType.INT32, INT32],
  [ScalarType.SINT32, INT32],
  [ScalarType.SFIXED32, INT32],
  [ScalarType.UINT32, UINT32],
  [ScalarType.FIXED32, UINT32],
  [ScalarType.INT64, INT64],
  [ScalarType.SINT64, INT64],
  [ScalarType.SFIXED64, INT64],
  [ScalarType.UINT64, UINT64],
  [ScalarType.FIXED64, UINT64],
]);
const INTEGER = /^[+-]?\d{1,20}(?:\.0{1,20})?$/;

/** Whether the type is one of whole numbers. */
export function isInteger(scalar: ScalarType): boolean {
  return RANGES.has(scalar);
}

/** Whether it is one of 64 bits, which JSON has as text. */
export function isLong(scalar: ScalarType): boolean {
  return [INT64, UINT64].some((range) => RANGES.get(scalar) === range);
}

/** A whole number in decimal digits, however it was written; undefined outside of the type's range. */
export function integerOf(scalar: ScalarType, text: string): string | undefined {
  const [least, most] = RANGES.get(scalar) ?? INT64;
  if (!INTEGER.test(text)) return undefined;
  const [digits = ""] = text.replace(/^\+/, "").split(".");
  const value = BigInt(digits);
  return value < least || value > most ? undefined : value.toString();
}

const SPECIAL: ReadonlySet<string> = new Set(["NaN", "Infinity", "-Infinity"]);

/** A number that need not be whole; undefined for other text. */
export function floatOf(text: string): Json | undefined {
  if (SPECIAL.has(text)) return text;
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Bytes in standard base64, of either alphabet, padded or not; undefined for other text. */
export function bytesOf(text: string): string | undefined {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const bare = standard.replace(/={1,2}$/, "");
  if (!BASE64.test(standard) || bare.length % 4 === 1) return undefined;
  return Buffer.from(bare, "base64").toString("base64");
}
