import { Code, MoorageError } from "../errors.ts";

/** One message as it came: a flag, its length, its bytes. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
export interface Envelope { isCompressed: boolean; bytes: Buffer }

/** The bytes before a message: a flag and the length. */
export const PREFIX_BYTES = 5;

/** The body of a unary call: exactly one message, however its bytes were cut on the way. */
export interface UnaryBody {
  /** How long the message says it is; 0 before it says so. */
  readonly announcedBytes: number;
  /** Takes what has come. False: no more is wanted, `end` tells why. */
  add(chunk: Buffer): boolean;
  /**
   * The message, once the caller has sent its last byte or no more is wanted. Throws RESOURCE_EXHAUSTED for one that says it is too large,
   * UNIMPLEMENTED for none or several, INVALID_ARGUMENT for one cut short or not begun as a message is.
   */
  end(): Envelope;
}

export function unaryBody(maxBytes: number): UnaryBody {
  let head: Buffer | undefined;
  let flags = 0;
  let bytes: Buffer | undefined;
  let filled = 0;
  let refusal: MoorageError | undefined;
  const refuse = (error: MoorageError): void => { refusal = error; };
  const begin = (first: Buffer): void => {
    if (first.length < PREFIX_BYTES) {
      head = first;
      return;
    }
    flags = first.readUInt8(0);
    const size = first.readUInt32BE(1);
    if (size > maxBytes) return refuse(tooLarge(maxBytes));
    if (flags > 1) return refuse(new MoorageError(Code.InvalidArgument, "Protocol error: unknown flags before a message"));
    if (first.length > PREFIX_BYTES + size) return refuse(secondMessage());
    // Nearly always the message is whole, and nothing is copied. Else: pages that nothing was written to cost nothing, to name a size is not to take it.
    if (first.length === PREFIX_BYTES + size) bytes = first.subarray(PREFIX_BYTES);
    else first.copy((bytes = Buffer.allocUnsafeSlow(size)), 0, PREFIX_BYTES);
    filled = first.length - PREFIX_BYTES;
  };
  return {
    get announcedBytes() { return bytes?.length ?? 0; },
    add(chunk) {
      if (refusal !== undefined) return false;
      if (bytes === undefined) begin(head === undefined ? chunk : Buffer.concat([head, chunk]));
      else if (filled + chunk.length > bytes.length) refuse(secondMessage());
      else filled += chunk.copy(bytes, filled);
      return refusal === undefined;
    },
    end() {
      if (refusal !== undefined) throw refusal;
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
