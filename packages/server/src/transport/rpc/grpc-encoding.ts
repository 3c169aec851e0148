import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, gunzip, gzip } from "node:zlib";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { tooLarge } from "./grpc-body.ts";

/** A way to compress messages. Source: gRPC's compression.md. */
export interface Encoding {
  name: string;
  compress(bytes: Uint8Array): Promise<Uint8Array>;
  /** Throws RESOURCE_EXHAUSTED beyond `maxBytes`, INVALID_ARGUMENT for bytes that are not compressed in this way. */
  decompress(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array>;
}

type Decompress = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const ENCODINGS = new Map(
  [
    encoding("gzip", promisify(gzip), promisify(gunzip)),
    encoding("br", promisify(brotliCompress), promisify(brotliDecompress)),
  ].map((each) => [each.name, each]),
);

/** The value of `grpc-accept-encoding`. */
export const ACCEPTED_ENCODINGS = ["identity", ...ENCODINGS.keys()].join(",");

/** Smaller messages are not worth compressing. */
export const COMPRESS_FROM_BYTES = 1024;

/**
 * The encoding that a request's `grpc-encoding` names; undefined when it is not compressed. Throws UNIMPLEMENTED for an
 * unknown one.
 */
export function encodingOf(name: string | string[] | undefined): Encoding | undefined {
  if (name === undefined || name === "identity") return undefined;
  const found = typeof name === "string" ? ENCODINGS.get(name) : undefined;
  if (found === undefined)
    throw new MoorageError(Code.Unimplemented, `Unimplemented: the compressions known are ${ACCEPTED_ENCODINGS}`);
  return found;
}

/**
 * Whether the caller's `grpc-accept-encoding` allows the encoding for the answer. Without that header every encoding
 * that the caller uses is allowed.
 */
export function isAccepted(encoding: Encoding | undefined, accepted: string | string[] | undefined): boolean {
  if (encoding === undefined || accepted === undefined) return true;
  return String(accepted)
    .split(",")
    .some((name) => name.trim() === encoding.name);
}

function encoding(
  name: string,
  compress: (bytes: Uint8Array) => Promise<Uint8Array>,
  decompress: Decompress,
): Encoding {
  return {
    name,
    compress,
    async decompress(bytes, maxBytes) {
      // Some clients compress an empty message to no bytes.
      if (bytes.length === 0) return bytes;
      try {
        return await decompress(bytes, { maxOutputLength: maxBytes });
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
          throw tooLarge(maxBytes);
        throw new MoorageError(
          Code.InvalidArgument,
          "Invalid argument: the message is not compressed as the call says",
          { cause: error },
        );
      }
    },
  };
}
