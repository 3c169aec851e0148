// Changes one place of a JSON file and leaves the rest as it is written.
import { isDeepStrictEqual } from "node:util";
import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { broken } from "./file.ts";

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Reads the text of a file. Throws an Error that names the file when it is no JSON object. */
export function jsonObject(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // A parser's message may show a part of the text, and with it a secret; where it is wrong is enough.
    const [where] = /(?:at )?position \d+(?: \(line \d+ column \d+\))?/.exec((error as Error).message) ?? [];
    throw broken(path, `it is no JSON${where === undefined ? "" : ` (${where})`}`);
  }
  if (!isObject(value)) throw broken(path, "it is no JSON object");
  return value;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The text with the value at a place, or without it for undefined; everything else keeps its form. Throws an Error that
 * names the file when that cannot be done, such as for keys that are there twice.
 */
export function withValue(path: string, text: string, place: JSONPath, value: unknown): string {
  const changed = applyEdits(text, modify(text, place, value, { formattingOptions: formOf(text) }));
  const expected = structuredClone(jsonObject(path, text));
  set(expected, place, value);
  if (!isDeepStrictEqual(jsonObject(path, changed), expected)) throw broken(path, `${place.join(".")} is there twice`);
  return changed;
}

function set(whole: JsonObject, place: JSONPath, value: unknown): void {
  let at: Record<string | number, unknown> = whole;
  for (const key of place.slice(0, -1)) at = (at[key] ??= {}) as Record<string | number, unknown>;
  const last = place.at(-1) ?? "";
  if (value !== undefined) at[last] = structuredClone(value);
  else if (Array.isArray(at)) at.splice(Number(last), 1);
  else delete at[last];
}

/** How the text is indented. Docker's own files have tabs. */
function formOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const [, indent = "\t"] = /\n([ \t]+)\S/.exec(text) ?? [];
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 4 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}
