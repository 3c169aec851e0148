// The fields of a request as flags: their names, and the values that people give as JSON.
import { nearest } from "@moorage/kernel/lib/near";
import { type Command, Option } from "commander";
import type { Json } from "../api/rest.ts";
import { durationMs } from "../command/duration.ts";
import { UsageFailure } from "../command/failure.ts";
import { completes, describes } from "../command/completion-sources.ts";
import type { FieldSpec, FieldType } from "./spec.ts";

/** A flag that fills a field. */
export interface FieldFlag {
  /** Such as `--claim-match-issuer`. */
  readonly flag: string;
  /** The names of JSON on the way to the field. */
  readonly path: readonly string[];
  readonly field: FieldSpec;
  /** How commander calls its value. */
  readonly attribute: string;
}

const MOST_DEPTH = 2;

/** Adds a flag for each field, and for each field of a message in it. Those that are there already get a prefix. */
export function addFieldFlags(command: Command, fields: readonly FieldSpec[], prefix: string): FieldFlag[] {
  const taken = new Set(command.options.map(({ long }) => long));
  return leavesOf(fields, []).map(({ path, field }) => {
    const name = path.map(kebab).join("-");
    const long = `--${taken.has(`--${name}`) ? `${prefix}-` : ""}${name}`;
    taken.add(long);
    const option = optionFor(long, field, path.length === 1);
    command.addOption(option);
    if (isSwitch(field)) command.addOption(new Option(`--no-${long.slice(2)}`).hideHelp());
    return { flag: long, path, field, attribute: option.attributeName() };
  });
}

/** `claim-match` of `claimMatch`. */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]+/g, (letters) => `-${letters.toLowerCase()}`).replace(/^-/, "");
}

function leavesOf(fields: readonly FieldSpec[], above: readonly string[]): { path: string[]; field: FieldSpec }[] {
  return fields.flatMap((field) => {
    const path = [...above, field.name];
    const isOpen = field.type === "message" && field.repeated !== true && (field.fields?.length ?? 0) > 0;
    // An enum without a value that means something.
    if (field.type === "enum" && field.values?.length === 0) return [];
    return isOpen && path.length < MOST_DEPTH ? leavesOf(field.fields ?? [], path) : [{ path, field }];
  });
}

function isSwitch({ type, repeated }: FieldSpec): boolean {
  return type === "bool" && repeated !== true;
}

/** Whether a request must name kinds of which a command line that names none means all. */
export function standsForAll({ type, repeated, required }: FieldSpec): boolean {
  return type === "enum" && repeated === true && required === true;
}

function optionFor(long: string, field: FieldSpec, isTop: boolean): Option {
  const { type, repeated, help, values, required } = field;
  const shown =
    values !== undefined && values.length > 0 && values.length <= MOST_SHOWN
      ? `; one of ${values.map((value) => shortValue(value, field)).join(", ")}`
      : "";
  const words = `${help.replace(/\.$/, "")}${shown}${repeated === true || type === "map" ? " (repeatable)" : ""}${standsForAll(field) ? "; all unless given" : required === true && isTop ? " (required)" : ""}`;
  if (isSwitch(field)) return new Option(long, words);
  const option = new Option(`${long} <${placeholder(field)}>`, words);
  if (field.ref !== undefined) completes(option, field.ref);
  if (values !== undefined)
    describes(option, Object.fromEntries(values.map((value) => [shortValue(value, field), ""])));
  if (repeated === true || type === "map")
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

const MOST_SHOWN = 12;

const PLACEHOLDERS: Readonly<Record<FieldType, string>> = {
  string: "text",
  bool: "true|false",
  int32: "number",
  int64: "number",
  double: "number",
  enum: "value",
  timestamp: "time",
  duration: "duration",
  bytes: "base64",
  json: "json",
  message: "json",
  map: "key=value",
};

function placeholder({ type, ref }: FieldSpec): string {
  return ref ?? PLACEHOLDERS[type];
}

/** `base` of CATALOG_TIER_BASE. */
export function shortValue(value: string, { prefix = "" }: FieldSpec): string {
  return prefix !== "" && value.startsWith(prefix)
    ? value.slice(prefix.length).toLowerCase().replaceAll("_", "-")
    : value;
}

/** What the text stands for, in JSON. Throws a UsageFailure that names the flag. */
export async function valueOf(flag: string, field: FieldSpec, given: unknown): Promise<Json> {
  if (field.type === "map") return mapOf(flag, field, texts(given));
  if (field.repeated !== true) return typeof given === "boolean" ? given : scalarOf(flag, field, String(given));
  const values = field.type === "enum" ? texts(given).flatMap((value) => value.split(",")) : texts(given);
  return Promise.all(values.map((value) => scalarOf(flag, field, value)));
}

function texts(given: unknown): string[] {
  return Array.isArray(given) ? given.map(String) : [String(given)];
}

async function mapOf(flag: string, field: FieldSpec, pairs: readonly string[]): Promise<Json> {
  const entries = pairs.map(async (pair): Promise<[string, Json]> => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageFailure(`must look like key=value, not ${pair}`, { field: flag });
    return [key, await scalarOf(flag, { name: field.name, help: "", type: field.valueType ?? "string" }, value)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function scalarOf(flag: string, field: FieldSpec, text: string): Promise<Json> {
  const wrong = (what: string): UsageFailure => new UsageFailure(`must be ${what}, not ${text}`, { field: flag });
  switch (field.type) {
    case "bool":
      if (!/^(?:true|false)$/.test(text)) throw wrong("true or false");
      return text === "true";
    case "int32":
    case "double":
      if (text.trim() === "" || !Number.isFinite(Number(text))) throw wrong("a number");
      return Number(text);
    case "int64":
      if (!/^-?\d+$/.test(text)) throw wrong("a whole number");
      return text;
    case "enum":
      return enumOf(flag, field, text);
    case "duration":
      return durationOf(flag, text);
    case "timestamp": {
      const { timeOfFlag } = await import("../api/time-flags.ts");
      return new Date(timeOfFlag(flag, text).firstMs).toISOString();
    }
    case "json":
    case "message":
      try {
        return JSON.parse(text) as Json;
      } catch {
        throw wrong("JSON");
      }
    default:
      return text === "-" ? (await import("./files.ts")).standardInput() : text;
  }
}

function durationOf(flag: string, text: string): string {
  const ms = durationMs(text);
  if (ms === undefined)
    throw new UsageFailure(`must be a duration such as 90s, 15m or 24h, not ${text}`, { field: flag });
  return `${ms / 1000}s`;
}

function enumOf(flag: string, field: FieldSpec, text: string): string {
  const { values = [], prefix = "" } = field;
  const plain = text.trim().toUpperCase().replaceAll("-", "_");
  const found = values.find(
    (value) => value === text.trim() || value.toUpperCase() === plain || value.toUpperCase() === `${prefix}${plain}`,
  );
  if (found !== undefined) return found;
  const short = values.map((value) => shortValue(value, field));
  const near = nearest(text, short);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `there are ${short.join(", ")}`;
  throw new UsageFailure(`${text} is no value`, { field: flag, hint });
}
