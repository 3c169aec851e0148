import type { ByteSource } from "@moorage/kernel/blobs";
import { createTurns } from "@moorage/kernel/lib/turns";
import { libraryError } from "../http/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../reading/limits.ts";
import { base64From } from "./base64.ts";

/** Takes the tarball of a document: its name, and its bytes as they come, to the end. */
type TakeTarball = (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const MAX_KEY_BYTES = 1_024;
const NONE = new Uint8Array(0);

interface SplitOptions {
  /** The most bytes beside the tarball. */
  maxJsonBytes: number;
  /** Called before so many bytes are in memory. */
  hold(bytes: number): Promise<void> | undefined;
}

/**
 * Reads the document of `npm publish`, `{…, "_attachments": {"<file>.tgz": {"data": "<base64>"}}}`, as it arrives: the
 * tarball's data is decoded and handed on without being in memory whole, and what else there is is returned, as JSON in
 * which that data is an empty text. Throws 400 for a second tarball or for data that is no base64, and 413 for more
 * than `maxJsonBytes` beside the tarball, or for more values than any document has. Other attachments, such as
 * provenance, stay in the JSON.
 */
export async function splitDocument(
  source: ByteSource,
  { maxJsonBytes, hold }: SplitOptions,
  take: TakeTarball,
): Promise<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const scanner = new Scanner(maxJsonBytes);
  let isTaken = false;
  const turn = createTurns();
  try {
    for (let rest: Uint8Array = NONE; ;) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) return scanner.whole();
        rest = next.value;
      }
      await hold(scanner.keptBytes + rest.length);
      // What has arrived already is scanned without a pause otherwise.
      await turn();
      const found = scanner.feed(rest);
      rest = NONE;
      if (found === undefined) continue;
      if (isTaken) throw libraryError(400, "Invalid argument: _attachments: there is more than one tarball");
      isTaken = true;
      const data = base64From(found.rest, chunks);
      await take(found.name, data.bytes);
      rest = data.rest();
      scanner.resume();
    }
  } finally {
    // What is left of a rejected body is then dropped, and the client gets its answer.
    await chunks.return?.();
  }
}

/** An object or a list that is open, with the last key of an object. */
interface Container {
  isObject: boolean;
  key: string;
}

/** Follows a JSON text byte by byte, and keeps it. */
class Scanner {
  readonly #kept: Uint8Array[] = [];
  readonly #open: Container[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  #values = 1;
  #isKeyNext = false;
  #isInText = false;
  #isEscaped = false;
  /** The bytes of the key that is being read. */
  #key: number[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get keptBytes(): number {
    return this.#bytes;
  }

  /** Takes bytes. Stops behind the quote that opens a tarball's data; `rest` is what follows. */
  feed(bytes: Uint8Array): { name: string; rest: Uint8Array } | undefined {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (this.#isInText) this.#readText(byte);
      else if (byte === QUOTE) {
        const name = this.#tarball();
        if (name !== undefined) {
          this.#keep(bytes.subarray(0, at + 1));
          return { name, rest: bytes.subarray(at + 1) };
        }
        this.resume();
      } else this.#readMark(byte);
    }
    this.#keep(bytes);
    return undefined;
  }

  /** The next bytes are those of a text. */
  resume(): void {
    this.#isInText = true;
    this.#isEscaped = false;
    this.#key = [];
  }

  whole(): Buffer {
    return Buffer.concat(this.#kept, this.#bytes);
  }

  #readText(byte: number): void {
    if (byte === QUOTE && !this.#isEscaped) {
      this.#isInText = false;
      const top = this.#open.at(-1);
      if (this.#isKeyNext && top !== undefined) top.key = textOf(this.#key);
      return;
    }
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    if (this.#isKeyNext && this.#key.length < MAX_KEY_BYTES) this.#key.push(byte);
  }

  #readMark(byte: number): void {
    // Each of these begins a value, or comes before one.
    if ((byte === OPEN || byte === OPEN_LIST || byte === COMMA) && (this.#values += 1) > MAX_JSON_VALUES)
      throw libraryError(413, `Invalid argument: the document has more than ${MAX_JSON_VALUES} values`);
    if (byte === OPEN || byte === OPEN_LIST) {
      this.#open.push({ isObject: byte === OPEN, key: "" });
      this.#isKeyNext = byte === OPEN;
      if (this.#open.length > MAX_JSON_DEPTH)
        throw libraryError(400, "Invalid argument: the document is nested too deeply");
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      this.#open.pop();
      this.#isKeyNext = false;
    } else if (byte === COMMA) this.#isKeyNext = this.#open.at(-1)?.isObject === true;
    else if (byte === COLON) this.#isKeyNext = false;
  }

  /** The name of the tarball whose data begins here. */
  #tarball(): string | undefined {
    const [document, attachments, attachment] = this.#open;
    if (this.#isKeyNext || this.#open.length !== 3 || document?.key !== "_attachments") return undefined;
    return attachment?.key === "data" && attachments?.key.endsWith(".tgz") === true ? attachments.key : undefined;
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes)
      throw libraryError(
        413,
        `Invalid argument: the document has more than ${this.#maxBytes} bytes beside its tarball`,
      );
    if (bytes.length > 0) this.#kept.push(Buffer.from(bytes));
  }
}

function textOf(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString();
  if (!text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    // The whole document will not parse either.
    return text;
  }
}
