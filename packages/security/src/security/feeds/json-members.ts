import { SourceError } from "../records/record.ts";

/** A member of an object: the keys that lead to it, and its value as JSON, undefined when it is longer than allowed. */
export interface JsonMember {
  keys: string[];
  text: string | undefined;
}

// The longest key, in characters.
const MAX_KEY_LENGTH = 1_000;

/**
 * The members at the given depth of a JSON document of nested objects, one by one: documents of any length are read
 * in bounded memory. Depth 1 are the members of the document itself. Throws a SourceError when it has another form.
 */
export async function* jsonMembers(
  bytes: AsyncIterable<Buffer>,
  { atDepth, maxLength }: { atDepth: number; maxLength: number },
): AsyncGenerator<JsonMember> {
  const splitter = new Splitter(atDepth, maxLength);
  const decoder = new TextDecoder("utf-8");
  for await (const chunk of bytes) yield* splitter.take(decoder.decode(chunk, { stream: true }));
  splitter.end();
}

class Splitter {
  readonly #atDepth: number;
  readonly #maxLength: number;
  readonly #keys: string[] = [];
  #depth = 0;
  #isEnded = false;
  #inString = false;
  #isEscaped = false;
  // In the value of a member at the depth: how many lists and objects of it are open.
  #inValue = false;
  #level = 0;
  // The key or the value under way; undefined for one that is too long.
  #text: string | undefined = "";

  constructor(atDepth: number, maxLength: number) {
    this.#atDepth = atDepth;
    this.#maxLength = maxLength;
  }

  *take(chunk: string): Generator<JsonMember> {
    let from = 0;
    const keep = (to: number): void => {
      this.#keep(chunk.slice(from, to));
      from = to;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const unit = chunk[at];
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (unit === "\\") this.#isEscaped = true;
        else if (unit === '"') {
          this.#inString = false;
          if (!this.#inValue) keep(at + 1);
        }
      } else if (this.#inValue) {
        if (unit === '"') this.#inString = true;
        else if (unit === "{" || unit === "[") this.#level += 1;
        else if (this.#level > 0) this.#level -= unit === "}" || unit === "]" ? 1 : 0;
        else if (unit === "," || unit === "}") {
          keep(at);
          yield { keys: [...this.#keys], text: this.#text };
          this.#inValue = false;
          if (unit === "}") this.#close();
        }
      } else if (unit === '"') {
        this.#inString = true;
        this.#text = "";
        from = at;
      } else if (unit === ":") {
        this.#keys[this.#depth - 1] = keyOf(this.#text);
        if (this.#depth === this.#atDepth) {
          this.#inValue = true;
          this.#level = 0;
          this.#text = "";
          from = at + 1;
        }
      } else if (unit === "{" && !this.#isEnded) this.#depth += 1;
      else if (unit === "}" && this.#depth > 0) this.#close();
      else if (unit !== "," && unit?.trim() !== "") throw wrong("is not an object of objects");
    }
    if (this.#inString || this.#inValue) keep(chunk.length);
  }

  end(): void {
    if (!this.#isEnded) throw wrong("ends early");
  }

  #close(): void {
    this.#depth -= 1;
    this.#keys.length = this.#depth;
    this.#isEnded = this.#depth === 0;
  }

  #keep(text: string): void {
    if (this.#text === undefined) return;
    this.#text =
      this.#text.length + text.length > (this.#inValue ? this.#maxLength : MAX_KEY_LENGTH)
        ? undefined
        : this.#text + text;
  }
}

function keyOf(text: string | undefined): string {
  try {
    return JSON.parse(text ?? "") as string;
  } catch (error) {
    throw wrong("has a key that cannot be read", error);
  }
}

const wrong = (problem: string, cause?: unknown): SourceError => new SourceError(`the document ${problem}`, { cause });
