/** One link of a Link header. */
export interface Link {
  /** The target as it stands there: a URL, or relative to that of the request. */
  target: string;
  /** What its first `rel` lists, in lower case. */
  relations: string[];
  /** What the link is about, where that is not the document of the request. */
  anchor: string | undefined;
}

const MAX_CHARS = 65_536;
const MAX_LINKS = 256;
const SPACE = " \t\r\n";
const TOKEN_ENDS = `${SPACE};,=`;

/**
 * Parses Link headers, up to the first part that is no link; of headers longer than 64 KiB together, their beginning.
 * Commas and semicolons within `<>` and quotes separate nothing. Takes time in proportion to the length. Source: RFC
 * 8288 §3 and appendix B.2.
 */
export function readLinks(header: string | string[] | undefined): Link[] {
  const text = (Array.isArray(header) ? header.join(", ") : (header ?? "")).slice(0, MAX_CHARS);
  const reader = new Reader(text);
  const found: Link[] = [];
  while (found.length < MAX_LINKS) {
    reader.skip(`${SPACE},`);
    if (!reader.take("<")) break;
    const target = reader.until(">");
    if (target === undefined) break;
    const parameters = reader.parameters();
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]/).filter(Boolean);
    found.push({ target: target.trim(), relations, anchor: parameters.get("anchor") });
  }
  return found;
}

/** The target of the first link about the answer itself that has the relation. Undefined when there is none. */
export function linkTo(relation: string, header: string | string[] | undefined): string | undefined {
  return readLinks(header).find((link) => link.anchor === undefined && link.relations.includes(relation))?.target;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  skip(chars: string): void {
    while (this.#at < this.#text.length && chars.includes(this.#text.charAt(this.#at))) this.#at += 1;
  }

  take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  /** The text before the character, which is passed. Undefined when it does not come. */
  until(char: string): string | undefined {
    const end = this.#text.indexOf(char, this.#at);
    if (end < 0) return undefined;
    const found = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return found;
  }

  /** The parameters of a link by lower-case name; of one that is repeated the first counts. */
  parameters(): Map<string, string> {
    const found = new Map<string, string>();
    for (this.skip(SPACE); this.take(";"); this.skip(SPACE)) {
      this.skip(SPACE);
      const name = this.#token().toLowerCase();
      this.skip(SPACE);
      let value = "";
      if (this.take("=")) {
        this.skip(SPACE);
        value = this.take('"') ? this.#quoted() : this.#token();
      }
      if (name !== "" && !found.has(name)) found.set(name, value);
    }
    return found;
  }

  #token(): string {
    const start = this.#at;
    while (this.#at < this.#text.length && !TOKEN_ENDS.includes(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#text.slice(start, this.#at);
  }

  /** The quoted text after its opening quote; one that is not closed has no value, and ends the header. */
  #quoted(): string {
    const parts: string[] = [];
    for (let from = this.#at; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at];
      if (char === "\\") {
        parts.push(this.#text.slice(from, this.#at));
        this.#at += 1;
        from = this.#at;
      } else if (char === '"') {
        parts.push(this.#text.slice(from, this.#at));
        this.#at += 1;
        break;
      }
    }
    return parts.join("");
  }
}
