import { decode, type DecodeOptions, type Token, Tokenizer, Type } from "cborg";

const MAX_DEPTH = 16;

const OPTIONS: DecodeOptions = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowNaN: false,
  allowInfinity: false,
  useMaps: true,
  rejectDuplicateMapKeys: true,
};

/** A time in seconds since 1970, by its tag in CBOR. */
export class EpochTime {
  readonly seconds: unknown;

  constructor(seconds: unknown) {
    this.seconds = seconds;
  }
}

/** What is signed once, by its tag in CBOR. */
export class Sign1 {
  readonly content: unknown;

  constructor(content: unknown) {
    this.content = content;
  }
}

/**
 * Reads CBOR of which there is one reading: lengths stand in front and are as short as they can be, no key of a map is
 * there twice, and nothing follows. Tags: times, and COSE_Sign1. Throws. Source: RFC 8949, RFC 9052.
 */
export function readCbor(bytes: Uint8Array): unknown {
  return decode(bytes, {
    ...OPTIONS,
    tokenizer: new ShallowTokenizer(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), OPTIONS),
    tags: { 1: (content) => new EpochTime(content()), 18: (content) => new Sign1(content()) },
  });
}

/** Throws before anything is nested deeper than what is read recursively may be. */
class ShallowTokenizer extends Tokenizer {
  /** How many values are still to come of each container that is open. */
  readonly #open: number[] = [];

  override next(): Token {
    const token = super.next();
    while (this.#open.at(-1) === 0) this.#open.pop();
    const last = this.#open.length - 1;
    if (last >= 0) this.#open[last] = (this.#open[last] ?? 0) - 1;
    if (token.type === Type.array) this.#open.push(Number(token.value));
    if (token.type === Type.map) this.#open.push(2 * Number(token.value));
    if (token.type === Type.tag) this.#open.push(1);
    if (this.#open.length > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH}`);
    return token;
  }
}
