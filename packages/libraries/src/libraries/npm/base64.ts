import { libraryError } from "../http/errors.ts";

const [QUOTE, BACKSLASH, PADDING] = [0x22, 0x5c, 0x3d];
/** So many bytes are decoded in one step. */
const STEP_BYTES = 256 * 1024;

/**
 * Decodes the base64 of a JSON text up to the quote that closes it: `first`, and then the chunks. `rest`, once all
 * bytes were read: what follows, from that quote on. Throws 400 for what is no base64, and for a text that does not
 * end.
 */
export function base64From(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): { bytes: AsyncIterable<Uint8Array>; rest(): Uint8Array } {
  let rest: Uint8Array = new Uint8Array(0);
  async function* decode(): AsyncGenerator<Uint8Array> {
    let left = Buffer.alloc(0);
    for (let chunk = first; ;) {
      const end = chunk.indexOf(QUOTE);
      const given = end < 0 ? chunk : chunk.subarray(0, end);
      for (let at = 0; at < given.length; at += STEP_BYTES) {
        const text = Buffer.concat([left, unescaped(given.subarray(at, at + STEP_BYTES))]);
        const whole = text.length - (text.length % 4);
        // The last four characters may be padded.
        const now = end < 0 || at + STEP_BYTES < given.length ? Math.max(0, whole - 4) : whole;
        if (now > 0) yield decoded(text.subarray(0, now));
        left = text.subarray(now);
      }
      if (end >= 0) {
        if (left.length % 4 !== 0) throw notBase64();
        if (left.length > 0) yield decoded(left);
        rest = chunk.subarray(end);
        return;
      }
      const next = await chunks.next();
      if (next.done === true) throw libraryError(400, "Invalid argument: the document is cut short");
      chunk = next.value;
    }
  }
  return { bytes: decode(), rest: () => rest };
}

// Some writers of JSON escape slashes.
function unescaped(bytes: Uint8Array): Uint8Array {
  return bytes.includes(BACKSLASH) ? bytes.filter((byte) => byte !== BACKSLASH) : bytes;
}

function decoded(text: Buffer): Uint8Array {
  let padding = 0;
  while (padding < 2 && text[text.length - 1 - padding] === PADDING) padding += 1;
  const bytes = Buffer.from(text.toString("latin1"), "base64");
  if (bytes.length !== (text.length / 4) * 3 - padding) throw notBase64();
  return bytes;
}

function notBase64(): Error {
  return libraryError(400, "Invalid argument: _attachments: the tarball's data is not base64");
}
