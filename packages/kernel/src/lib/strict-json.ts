import { parseJson } from "./json.ts";

/**
 * Parses untrusted JSON of which every name in an object must be another one: what is signed must not mean one thing
 * here and another elsewhere. Bounds are those of parseJson. Throws a SyntaxError. Source: RFC 8259, section 4.
 */
export function parseStrictJson(bytes: Uint8Array, maxDepth: number, maxValues: number): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SyntaxError("it is not UTF-8");
  }
  // It is JSON from here on, so that the names can be found without looking at anything else.
  const value = parseJson(text, maxDepth, maxValues);
  requireUnique(text);
  return value;
}

/** Throws a SyntaxError when an object of the JSON has a name twice, however they are written. */
function requireUnique(text: string): void {
  /** The names so far of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === "{") open.push(new Set());
    else if (unit === "[") open.push(undefined);
    else if (unit === "}" || unit === "]") open.pop();
    else if (unit === '"') {
      const from = at;
      at = endOfText(text, at);
      if (nextAfter(text, at) !== ":") continue;
      const name = JSON.parse(text.slice(from, at + 1)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true)
        throw new SyntaxError(`the name ${JSON.stringify(name.slice(0, 100))} stands twice`);
      names?.add(name);
    }
  }
}

/** Where the text that begins with the quote ends. */
function endOfText(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function nextAfter(text: string, at: number): string | undefined {
  let next = at + 1;
  while (text[next] === " " || text[next] === "\n" || text[next] === "\r" || text[next] === "\t") next += 1;
  return text[next];
}
