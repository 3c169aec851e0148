// The values of a document by the fields of its kind: everything unknown and misplaced is found here, with its place.
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { nearest } from "@moorage/kernel/lib/near";
import { isAlias, isMap, isScalar, isSeq, type Pair } from "yaml";
import type { Json, JsonObject } from "../api/rest.ts";
import { enumName, enumNames, fieldOf, hasBehavior, isWellKnown } from "./fields.ts";
import { bytesOf, durationOf, floatOf, integerOf, isInteger, isLong, scalarOf, timeOf } from "./proto-json.ts";
import type { Place, Problem, Source } from "./source.ts";

/** What a reader of values collects. */
export interface Reading {
  readonly source: Source;
  readonly problems: Problem[];
  /** Variables that secrets come from. */
  readonly env: NodeJS.ProcessEnv;
  /** Where each field stands, by its path. */
  readonly places: Map<string, Place>;
}

const MOST_NAME = 200;
const MOST_DEPTH = 20;

/** The fields of a map, by the descriptor of their message. `renamed`: names in the file to those of the API. */
export function fieldsIn(
  reading: Reading,
  pairs: readonly Pair<unknown, unknown>[],
  message: DescMessage,
  {
    prefix = "",
    renamed = {},
    depth = 0,
  }: { prefix?: string; renamed?: Readonly<Record<string, string>>; depth?: number } = {},
): JsonObject {
  const found: JsonObject = {};
  for (const { key, value } of pairs) {
    const name = keyText(reading, key);
    if (name === undefined) continue;
    const field = fieldOf(message, renamed[name] ?? name);
    const known = field?.jsonName ?? renamed[name] ?? name;
    const path = `${prefix}${known}`;
    if (known in found) {
      problem(reading, key, `${name} stands here twice, once by another name`);
      continue;
    }
    reading.places.set(path, reading.source.placeOf(key));
    if (field !== undefined && (renamed[name] !== undefined || !hasBehavior(field, "OUTPUT_ONLY"))) {
      const read = valueOf(reading, value, field, path, depth);
      if (read !== undefined) found[known] = read;
      continue;
    }
    const [base] = /^.*(?=From$)|^.*(?=_from$)/.exec(name.slice(0, MOST_NAME)) ?? [];
    const secret = base === undefined ? undefined : fieldOf(message, base);
    if (secret?.scalar === ScalarType.STRING && secret.fieldKind === "scalar") {
      const text = fromEnvironment(reading, value);
      if (text !== undefined) found[secret.jsonName] = text;
    } else if (field !== undefined) problem(reading, key, `${name} is set by the server; leave it out`);
    else problem(reading, key, unknownField(name, message, renamed));
  }
  return found;
}

function unknownField(name: string, message: DescMessage, renamed: Readonly<Record<string, string>>): string {
  const names = [
    ...Object.keys(renamed),
    ...message.fields.filter((field) => !hasBehavior(field, "OUTPUT_ONLY")).map(({ jsonName }) => jsonName),
    ...(message.fields.some((field) => field.jsonName === "uid") ? ["kind", "parent", "uid"] : []),
  ];
  return `unknown field ${name}${meant(name, names)}`;
}

/** `; did you mean …?`, or nothing. */
export function meant(wrong: string, known: readonly string[]): string {
  const near = nearest(wrong, known);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

function valueOf(reading: Reading, given: unknown, field: DescField, path: string, depth: number): Json | undefined {
  const node = isAlias(given) ? given.resolve(reading.source.document) : given;
  if (depth > MOST_DEPTH) return void problem(reading, given, "is nested too deeply");
  if (node === null || node === undefined || (isScalar(node) && node.value === null)) return null;
  if (field.fieldKind === "list") {
    if (!isSeq(node)) return void problem(reading, given, `${field.jsonName} must be a list`);
    return node.items.flatMap((each) => singleValue(reading, each, field, `${path}.*`, depth) ?? []);
  }
  if (field.fieldKind === "map") {
    if (!isMap(node)) return void problem(reading, given, `${field.jsonName} must be a map`);
    const found: JsonObject = {};
    for (const { key, value } of node.items) {
      const name = keyText(reading, key);
      const read = name === undefined ? undefined : singleValue(reading, value, field, `${path}.*`, depth);
      if (name !== undefined && read !== undefined) found[name] = read;
    }
    return found;
  }
  return singleValue(reading, node, field, path, depth);
}

function singleValue(
  reading: Reading,
  given: unknown,
  field: DescField,
  path: string,
  depth: number,
): Json | undefined {
  const node = isAlias(given) ? given.resolve(reading.source.document) : given;
  const wrong = (what: string): undefined => void problem(reading, given, `${field.jsonName} must be ${what}`);
  const scalar = scalarOf(field);
  if (field.message !== undefined && !isWellKnown(field.message)) {
    if (!isMap(node)) return wrong("a map of fields");
    return fieldsIn(reading, node.items, field.message, { prefix: `${path}.`, depth: depth + 1 });
  }
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (field.message?.typeName === "google.protobuf.Duration")
    return durationOf(String(value)) ?? wrong("a duration such as 90s, 12h or 30d");
  if (field.message?.typeName === "google.protobuf.Timestamp")
    return timeOf(String(value)) ?? wrong("a time such as 2026-01-31T12:00:00Z");
  if (field.enum !== undefined) return enumValue(reading, given, field.enum, String(value));
  if (scalar === undefined) return wrong("left out: it has no form in files");
  if (scalar === ScalarType.BOOL) return typeof value === "boolean" ? value : wrong("true or false");
  if (scalar === ScalarType.STRING)
    return typeof value === "string" ? value : wrong(`a text${isScalar(node) ? ": put it in quotes" : ""}`);
  if (scalar === ScalarType.BYTES)
    return (typeof value === "string" ? bytesOf(value) : undefined) ?? wrong("bytes in base64");
  const text = digitsOf(node);
  if (isInteger(scalar)) {
    const digits = text === undefined ? undefined : integerOf(scalar, text);
    if (digits !== undefined) return isLong(scalar) ? digits : Number(digits);
    return wrong(`a whole number${text !== undefined && /^-?\d+$/.test(text) ? " in its range" : ""}`);
  }
  return (text === undefined ? undefined : floatOf(text)) ?? wrong("a number");
}

/** A number, or a text in its place, as it was written: digits beyond 2^53 would be lost as a number. */
function digitsOf(node: unknown): string | undefined {
  if (!isScalar(node) || (typeof node.value !== "number" && typeof node.value !== "string")) return undefined;
  const { source } = node;
  return typeof node.value === "number" && source !== undefined && /^[+-]?\d+$/.test(source)
    ? source
    : String(node.value);
}

function enumValue(reading: Reading, node: unknown, desc: DescEnum, text: string): Json | undefined {
  const names = enumNames(desc);
  const name = enumName(desc, text);
  if (name !== undefined) return name;
  const all = [...names.keys()];
  const hint = meant(text, all) || `; there are ${[...new Set(names.values())].slice(0, 8).join(", ")}`;
  return void problem(reading, node, `unknown value ${text}${hint}`);
}

function fromEnvironment(reading: Reading, node: unknown): string | undefined {
  const name: unknown = isMap(node) && node.items.length === 1 ? node.get("env") : undefined;
  if (typeof name !== "string") return void problem(reading, node, "must be {env: NAME}");
  const value = reading.env[name];
  if (value === undefined || value === "") return void problem(reading, node, `the environment has no ${name}`);
  return value;
}

/** The text of a key; undefined, with a problem, for another one. */
export function keyText(reading: Pick<Reading, "source" | "problems">, key: unknown): string | undefined {
  if (isScalar(key) && typeof key.value === "string") return key.value;
  if (isScalar(key) && typeof key.value === "number") return digitsOf(key);
  return void problem(reading, key, "is no name of a field");
}

/** Adds a problem at a node. */
export function problem(
  { source, problems }: Pick<Reading, "source" | "problems">,
  node: unknown,
  message: string,
): void {
  problems.push({ at: source.placeOf(node), message });
}
