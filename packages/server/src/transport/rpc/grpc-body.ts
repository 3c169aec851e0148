import { Code, MoorageError } from "../../errors.ts";

/** One message as it came: a flag, its length, its bytes. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
export interface Envelope {
  isCompressed: boolean;
  bytes: Buffer;
}

/** The bytes before a message: a flag and the length. */
export const PREFIX_BYTES = 5;
// Messages that ask for what is kept are short.
const MAX_KEPT_BYTES = 1024;

/**
 * The body of a unary call: exactly one message, however its bytes were cut on the way. A class for its prototype: one
 * is made for every call, and closures for each function would cost more than what they do.
 */
export class UnaryBody {
  readonly #maxBytes: number;
  #head: Buffer | undefined;
  #flags = 0;
  #bytes: Buffer | undefined;
  #filled = 0;
  #rejection: MoorageError | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** How long the message says it is; 0 before it says so. */
  get announcedBytes(): number {
    return this.#bytes?.length ?? 0;
  }

  /** Takes what has come. False: no more is wanted, `end` tells why. */
  add(chunk: Buffer): boolean {
    if (this.#rejection !== undefined) return false;
    if (this.#bytes === undefined)
      this.#rejection = this.#begin(this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]));
    else if (this.#filled + chunk.length > this.#bytes.length) this.#rejection = secondMessage();
    else this.#filled += chunk.copy(this.#bytes, this.#filled);
    return this.#rejection === undefined;
  }

  /**
   * The message, once the caller has sent its last byte or no more is wanted. Throws RESOURCE_EXHAUSTED for one that
   * says it is too large, UNIMPLEMENTED for none or several, INVALID_ARGUMENT for one cut short or not begun as a
   * message is.
   */
  end(): Envelope {
    if (this.#rejection !== undefined) throw this.#rejection;
    if (this.#bytes === undefined && this.#head === undefined)
      throw new MoorageError(Code.Unimplemented, "Protocol error: a unary call without a message");
    if (this.#bytes === undefined || this.#filled < this.#bytes.length)
      throw new MoorageError(Code.InvalidArgument, "Protocol error: the message was cut short");
    return { isCompressed: this.#flags === 1, bytes: this.#bytes };
  }

  /**
   * The whole, plain message as a text behind the prefix, to know an equal one by. Absent: it is wrong, compressed or
   * long.
   */
  keptKey(prefix: string): string | undefined {
    const bytes = this.#bytes;
    if (
      this.#rejection !== undefined ||
      bytes === undefined ||
      this.#flags !== 0 ||
      this.#filled < bytes.length ||
      bytes.length > MAX_KEPT_BYTES
    )
      return undefined;
    return prefix + bytes.toString("latin1");
  }

  #begin(first: Buffer): MoorageError | undefined {
    if (first.length < PREFIX_BYTES) {
      this.#head = first;
      return undefined;
    }
    const size = first.readUInt32BE(1);
    this.#flags = first.readUInt8(0);
    if (size > this.#maxBytes) return tooLarge(this.#maxBytes);
    if (this.#flags > 1)
      return new MoorageError(Code.InvalidArgument, "Protocol error: unknown flags before a message");
    if (first.length > PREFIX_BYTES + size) return secondMessage();
    this.#filled = first.length - PREFIX_BYTES;
    // Nearly always the message is whole, and nothing is copied.
    if (this.#filled === size) this.#bytes = first.subarray(PREFIX_BYTES);
    // Pages that nothing was written to cost nothing: to name a size is not to take it.
    else first.copy((this.#bytes = Buffer.allocUnsafeSlow(size)), 0, PREFIX_BYTES);
    return undefined;
  }
}

/** The message as it is sent: not compressed, or compressed already. */
export function enveloped(message: Uint8Array, isCompressed: boolean): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  framed.writeUInt8(isCompressed ? 1 : 0, 0);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** RESOURCE_EXHAUSTED: a message beyond the bound, as it came or decompressed. */
export function tooLarge(maxBytes: number): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: a message may have ${maxBytes} bytes`);
}

function secondMessage(): MoorageError {
  return new MoorageError(Code.Unimplemented, "Protocol error: a unary call with more than one message");
}
