import { type DescEnum, type DescEnumValue, ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { other_name, v1_name } from "@moorage/api/messages";
import { optionOf } from "../options.ts";
import { violate } from "./fields.ts";
import type { FieldViolation } from "../../errors.ts";

/**
 * Turns a JSON value into a field's value. Records violations under the path `at`, and only then returns undefined.
 * `depth` is the number of objects around the value.
 */
export type Read = (json: unknown, at: string, bad: FieldViolation[], depth: number) => unknown;

const INTEGER = /^-?(?:0|[1-9][0-9]{0,19})$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
// Values of an enumeration with more names than this are not listed in errors.
const MAX_LISTED = 12;
const MAX_FLOAT = 3.402_823_466_385_288_6e38;

/**
 * The reader of a scalar type. Integers may be numbers or strings; bytes are base64 in either alphabet. Source:
 * ProtoJSON.
 */
export function scalarReader(scalar: ScalarType): Read {
  switch (scalar) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return (json, at, bad) => (typeof json === "boolean" ? json : fail(bad, at, "must be true or false"));
    case ScalarType.BYTES:
      return readBytes;
    case ScalarType.DOUBLE:
      return (json, at, bad) => readNumber(json, at, bad, Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return (json, at, bad) => readNumber(json, at, bad, MAX_FLOAT);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integerReader(0n, 0xffff_ffffn, Number);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return integerReader(0n, 0xffff_ffff_ffff_ffffn, (value) => value);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return integerReader(-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn, (value) => value);
    default:
      return integerReader(-0x8000_0000n, 0x7fff_ffffn, Number);
  }
}

/** Which numbers are values of the enumeration, and what is said of others. */
export function enumRule(desc: DescEnum): { accepts(number: number): boolean; description: string } {
  const known = new Set(desc.values.map((value) => value.number));
  const description =
    desc.values.length > MAX_LISTED
      ? `must be a value of ${desc.name}`
      : `must be one of ${desc.values.map((value) => value.name).join(", ")}`;
  return { accepts: (number) => known.has(number), description };
}

/** The names by which a value is read and never written. Its own may be among them. */
export function otherNamesOf(value: DescEnumValue): string[] {
  const prefixLength = value.parent.sharedPrefix?.length ?? 0;
  const others = [optionOf(value, other_name), optionOf(value, v1_name)].filter((name) => name !== "");
  return [value.name.slice(prefixLength), ...others];
}

/**
 * The reader of an enumeration: accepts its names and its numbers, and its names without their type's prefix (`READY`
 * for `ORG_STATUS_READY`), which are never written. Source: docs/contract.md, "JSON".
 */
export function enumReader(desc: DescEnum): Read {
  const numbers = new Map(desc.values.map((value) => [value.name, value.number]));
  const others = new Map(desc.values.flatMap((value) => otherNamesOf(value).map((name) => [name, value.number])));
  const { accepts, description } = enumRule(desc);
  return (json, at, bad) => {
    if (typeof json === "string") return numbers.get(json) ?? others.get(json) ?? fail(bad, at, description);
    return typeof json === "number" && accepts(json) ? json : fail(bad, at, description);
  };
}

export function fail(bad: FieldViolation[], at: string, description: string): undefined {
  violate(bad, at, description);
  return undefined;
}

function readString(json: unknown, at: string, bad: FieldViolation[]): string | undefined {
  if (typeof json !== "string") return fail(bad, at, "must be a string");
  return json.isWellFormed() ? json : fail(bad, at, "must be valid Unicode");
}

function readBytes(json: unknown, at: string, bad: FieldViolation[]): Uint8Array | undefined {
  if (typeof json !== "string") return fail(bad, at, "must be a base64 string");
  try {
    return base64Decode(json);
  } catch {
    return fail(bad, at, "must be a base64 string");
  }
}

function readNumber(json: unknown, at: string, bad: FieldViolation[], max: number): number | undefined {
  if (json === "NaN") return Number.NaN;
  if (json === "Infinity" || json === "-Infinity") return Number(json);
  const value = typeof json === "string" && NUMBER.test(json) ? Number(json) : json;
  if (typeof value !== "number") return fail(bad, at, "must be a number");
  return Math.abs(value) <= max ? value : fail(bad, at, "is out of range");
}

function integerReader<T>(min: bigint, max: bigint, convert: (value: bigint) => T): Read {
  return (json, at, bad) => {
    const value = toBigInt(json);
    if (value === undefined) {
      // Larger numbers have already lost precision when JSON.parse returns them.
      return fail(
        bad,
        at,
        Number.isInteger(json) ? "is too large for a JSON number; give it as a string" : "must be an integer",
      );
    }
    return value < min || value > max ? fail(bad, at, `must be between ${min} and ${max}`) : convert(value);
  };
}

function toBigInt(json: unknown): bigint | undefined {
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : undefined;
  return typeof json === "string" && INTEGER.test(json) ? BigInt(json) : undefined;
}
