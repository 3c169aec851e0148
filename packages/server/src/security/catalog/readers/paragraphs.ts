/**
 * Paragraphs of `Name: value` fields, separated by empty lines. Field names are in lower case; lines that go on with a
 * blank are added to the value when it is wanted at all. Source: deb822(5), RFC 5322 for Python's.
 */
export function* paragraphs(text: string, wanted: ReadonlySet<string>): Generator<Map<string, string>> {
  let fields = new Map<string, string>();
  let last: string | undefined;
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, text[end - 1] === "\r" && end > at ? end - 1 : end);
    at = end + 1;
    if (line === "") {
      if (fields.size > 0) yield fields;
      fields = new Map();
      last = undefined;
    } else if (line[0] === " " || line[0] === "\t") {
      if (last !== undefined) fields.set(last, `${fields.get(last) ?? ""}\n${line.trim()}`);
    } else {
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(0, colon)).toLowerCase();
      last = wanted.has(name) ? name : undefined;
      if (last !== undefined) fields.set(last, line.slice(colon + 1).trim());
    }
  }
  if (fields.size > 0) yield fields;
}
