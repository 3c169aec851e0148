import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

/** Deeper than any message of ours, and than readers of Protocol Buffers have to follow. */
const MAX_DEPTH = 100;
const MAX_VARINT_BYTES = 10;

/** What a field holds between its length and its end. */
type Content = { message: DescMessage } | { entry: DescField } | "packed" | "text";
type Contents = ReadonlyMap<number, Content>;
const contentsOf = new WeakMap<DescMessage | DescField, Contents>();

/**
 * Whether reading these bytes as a message would make more than `max` values: fields, known or not, elements of lists
 * and entries of maps, those of nested messages included. Also true for messages that are nested more than 100 deep.
 * Nothing is built to find out. Bytes that are no message may pass: reading them fails.
 */
export function hasMoreFields(desc: DescMessage, bytes: Uint8Array, max: number): boolean {
  return new Counter(bytes, max).exceeds(contentsIn(desc), bytes.length, 0);
}

class Counter {
  readonly #bytes: Uint8Array;
  readonly #max: number;
  #count = 0;
  #at = 0;

  constructor(bytes: Uint8Array, max: number) {
    this.#bytes = bytes;
    this.#max = max;
  }

  /** Whether there is too much from here to `end`. */
  exceeds(contents: Contents, end: number, depth: number): boolean {
    if (depth > MAX_DEPTH) return true;
    // What stands in an unknown group is counted as if it stood here.
    let groups = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      if ((this.#count += 1) > this.#max) return true;
      const type = tag % 8;
      if (type === WireType.Varint) this.#varint();
      else if (type === WireType.Bit64) this.#at += 8;
      else if (type === WireType.Bit32) this.#at += 4;
      else if (type === WireType.EndGroup) groups -= 1;
      else if (type === WireType.StartGroup) {
        if ((groups += 1) > MAX_DEPTH) return true;
      } else if (type === WireType.LengthDelimited) {
        const size = this.#varint();
        const next = this.#at + size;
        if (next > end) return false;
        const content = groups === 0 ? contents.get(Math.floor(tag / 8)) : undefined;
        // A packed number has at least one byte.
        if (content === "packed" && (this.#count += size) > this.#max) return true;
        if (typeof content === "object" && this.exceeds(inside(content), next, depth + 1)) return true;
        this.#at = next;
      } else return false;
    }
    return false;
  }

  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let read = 0; read < MAX_VARINT_BYTES; read++) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
    }
    return value;
  }
}

function inside(content: { message: DescMessage } | { entry: DescField }): Contents {
  return "message" in content ? contentsIn(content.message) : contentsIn(content.entry);
}

/** By number, what the fields of a message hold, or those of an entry of a map: its key and its value. */
function contentsIn(desc: DescMessage | DescField): Contents {
  const known = contentsOf.get(desc);
  if (known !== undefined) return known;
  const contents = new Map<number, Content>();
  if (desc.kind === "message") for (const field of desc.fields) contents.set(field.number, contentOf(field));
  else if (desc.message !== undefined) contents.set(2, { message: desc.message });
  contentsOf.set(desc, contents);
  return contents;
}

function contentOf(field: DescField): Content {
  if (field.fieldKind === "map") return { entry: field };
  if (field.message !== undefined) return { message: field.message };
  const isText = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  return field.fieldKind === "list" && !isText ? "packed" : "text";
}
