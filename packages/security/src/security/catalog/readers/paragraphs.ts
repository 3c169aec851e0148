import { linesOf } from "./lines.ts";

/** From this length on lines are not added to a value, in characters. */
const MAX_VALUE = 64 * 1024;

/**
 * Paragraphs of `Name: value` fields, separated by empty lines. Field names are in lower case; lines that go on with a
 * blank are added to the value when it is wanted at all. Source: deb822(5), RFC 5322 for Python's.
 */
export function* paragraphs(text: string, wanted: ReadonlySet<string>): Generator<Map<string, string>> {
  let fields = new Map<string, string>();
  let last: string | undefined;
  for (const ended of linesOf(text)) {
    const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
    if (line === "") {
      if (fields.size > 0) yield fields;
      fields = new Map();
      last = undefined;
    } else if (line[0] === " " || line[0] === "\t") {
      const before = last === undefined ? "" : (fields.get(last) ?? "");
      if (last !== undefined && before.length < MAX_VALUE) fields.set(last, `${before}\n${line.trim()}`);
    } else {
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(0, colon)).toLowerCase();
      last = wanted.has(name) ? name : undefined;
      if (last !== undefined) fields.set(last, line.slice(colon + 1).trim());
    }
  }
  if (fields.size > 0) yield fields;
}
