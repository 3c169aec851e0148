import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, MoorageError } from "../../errors.ts";
import type { Streamed } from "../../core/streamed.ts";

const MAX_BYTES = 256 * 1024 * 1024;

/**
 * A list as one message in bytes, made element by element: the length of a gRPC message stands before it, so that all
 * of it must be there before it is sent. Throws RESOURCE_EXHAUSTED for more than 256 MiB. Source: Protocol Buffers
 * encoding, "repeated"; gRPC over HTTP/2, "Length-Prefixed-Message".
 */
export async function encodedList({ field, parts }: Streamed, maxBytes = MAX_BYTES): Promise<Uint8Array> {
  const { message, number } = field;
  if (message === undefined) throw new Error("a streamed list is of messages");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const part of parts) {
    const writer = new BinaryWriter();
    for (const element of part) writer.tag(number, WireType.LengthDelimited).bytes(toBinary(message, element));
    const chunk = writer.finish();
    size += chunk.length;
    if (size > maxBytes)
      throw new MoorageError(
        Code.ResourceExhausted,
        "Resource exhausted: the list is too long for one message of gRPC; narrow it by a filter, or use REST",
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
