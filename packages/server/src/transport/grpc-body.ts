import { Code, MoorageError } from "../errors.ts";

/** One message as it came: a flag, its length, its bytes. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
export interface Envelope { isCompressed: boolean; bytes: Buffer }

/** The bytes before a message: a flag and the length. */
export const PREFIX_BYTES = 5;

/** The body of a unary call: exactly one message, however its bytes were cut on the way. */
export interface UnaryBody {
  /** How long the message says it is; 0 before it says so. */
  readonly announcedBytes: number;
  /** Takes what has come. Throws RESOURCE_EXHAUSTED as soon as the message says it is too large, UNIMPLEMENTED when more than one comes. */
  add(chunk: Buffer): void;
  /** The message, once the caller has sent its last byte. Throws UNIMPLEMENTED when there is none, INVALID_ARGUMENT when it was cut short. */
  end(): Envelope;
}

export function unaryBody(maxBytes: number): UnaryBody {
  let head: Buffer | undefined;
  let flags = 0;
  let bytes: Buffer | undefined;
  let filled = 0;
  const begin = (first: Buffer): void => {
    if (first.length < PREFIX_BYTES) {
      head = first;
      return;
    }
    flags = first.readUInt8(0);
    const size = first.readUInt32BE(1);
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (flags > 1) throw new MoorageError(Code.InvalidArgument, "Protocol error: unknown flags before a message");
    // Nearly always the message is whole, and nothing is copied.
    if (first.length === PREFIX_BYTES + size) bytes = first.subarray(PREFIX_BYTES);
    else if (first.length > PREFIX_BYTES + size) throw secondMessage();
    // Pages that nothing was written to cost nothing: to name a size is not to take it.
    else first.copy((bytes = Buffer.allocUnsafeSlow(size)), 0, PREFIX_BYTES);
    filled = first.length - PREFIX_BYTES;
  };
  return {
    get announcedBytes() { return bytes?.length ?? 0; },
    add(chunk) {
      if (bytes === undefined) return begin(head === undefined ? chunk : Buffer.concat([head, chunk]));
      if (filled + chunk.length > bytes.length) throw secondMessage();
      filled += chunk.copy(bytes, filled);
    },
    end() {
      if (bytes === undefined && head === undefined) throw new MoorageError(Code.Unimplemented, "Protocol error: a unary call without a message");
      if (bytes === undefined || filled < bytes.length) throw new MoorageError(Code.InvalidArgument, "Protocol error: the message was cut short");
      return { isCompressed: flags === 1, bytes };
    },
  };
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
