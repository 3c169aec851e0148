import { Code, MoorageError } from "@moorage/kernel/errors";
import { MAX_MESSAGE_VALUES } from "../http/limits.ts";

/** One message as received: a flag, its length, its bytes. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
export interface Envelope {
  isCompressed: boolean;
  bytes: Buffer;
}

/** The bytes before a message: a flag and the length. */
export const PREFIX_BYTES = 5;
// Requests whose answers are cached are short.
const MAX_CACHED_BYTES = 1024;

/**
 * The body of a unary call: exactly one message, in any number of chunks. A class for its prototype: one is made for
 * every call, and closures for each function would cost more than the work they do.
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

  /** The length that the message's prefix gives; 0 before the prefix has arrived. */
  get announcedBytes(): number {
    return this.#bytes?.length ?? 0;
  }

  /** Adds a chunk. Returns false when no more is wanted; `end` then throws why. */
  add(chunk: Buffer): boolean {
    if (this.#rejection !== undefined) return false;
    if (this.#bytes === undefined)
      this.#rejection = this.#begin(this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]));
    else if (this.#filled + chunk.length > this.#bytes.length) this.#rejection = secondMessage();
    else this.#filled += chunk.copy(this.#bytes, this.#filled);
    return this.#rejection === undefined;
  }

  /**
   * The message, once the caller has sent its last byte or no more is wanted. Throws RESOURCE_EXHAUSTED when its
   * announced length is too large, UNIMPLEMENTED for no message or several, INVALID_ARGUMENT when it is cut short or
   * its prefix is invalid.
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
   * The message as a text after `prefix`, for a key of the response cache. Undefined when the message is incomplete,
   * invalid, compressed or long.
   */
  cacheKey(prefix: string): string | undefined {
    const bytes = this.#bytes;
    if (
      this.#rejection !== undefined ||
      bytes === undefined ||
      this.#flags !== 0 ||
      this.#filled < bytes.length ||
      bytes.length > MAX_CACHED_BYTES
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
    // Usually the first chunk has the whole message, and nothing is copied.
    if (this.#filled === size) this.#bytes = first.subarray(PREFIX_BYTES);
    // Memory is only used once it is written, so announcing a large size takes none.
    else first.copy((this.#bytes = Buffer.allocUnsafeSlow(size)), 0, PREFIX_BYTES);
    return undefined;
  }
}

/** The message with its prefix, uncompressed or already compressed. */
export function enveloped(message: Uint8Array, isCompressed: boolean): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  framed.writeUInt8(isCompressed ? 1 : 0, 0);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** The prefix of an uncompressed message of so many bytes. */
export function envelope(bytes: number): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** RESOURCE_EXHAUSTED for a message beyond the limit, as received or decompressed. */
export function tooLarge(maxBytes: number): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: a message may have ${maxBytes} bytes`);
}

/** INVALID_ARGUMENT for a message of which reading it would make too many values. */
export function tooManyValues(): MoorageError {
  return new MoorageError(
    Code.InvalidArgument,
    `Invalid argument: a message must have at most ${MAX_MESSAGE_VALUES} values`,
  );
}

function secondMessage(): MoorageError {
  return new MoorageError(Code.Unimplemented, "Protocol error: a unary call with more than one message");
}
