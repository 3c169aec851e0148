import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Streamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten } from "@moorage/kernel/core/written-answer";

/** A list as the bytes of one message, in pieces. `release` gives its memory back; called once, when it is sent. */
export interface EncodedList {
  pieces: readonly Uint8Array[];
  size: number;
  release(): void;
}

// What all lists that are being read or sent may take together.
const BUDGET_BYTES = 256 * 1024 * 1024;
const RETRY_AFTER_MS = 1000;

/** Makes the function that encodes lists, all of which together take at most so many bytes. */
export function listEncoder(budgetBytes = BUDGET_BYTES): (list: Streamed) => Promise<EncodedList> {
  let held = 0;
  /**
   * The length of a gRPC message stands before it, so that all of it must be there before it is sent. Throws
   * RESOURCE_EXHAUSTED when the bound is reached. Source: Protocol Buffers encoding, "repeated"; gRPC over HTTP/2,
   * "Length-Prefixed-Message".
   */
  return async ({ field: { message, number }, parts }) => {
    if (message === undefined) throw new Error("a streamed list is of messages");
    const pieces: Uint8Array[] = [];
    let size = 0;
    const release = (): void => void (held -= size);
    try {
      for await (const part of parts) {
        const writer = new BinaryWriter();
        if (!isWritten(part))
          for (const element of part) writer.tag(number, WireType.LengthDelimited).bytes(toBinary(message, element));
        // Messages of one list after another are a message of all elements.
        const piece = isWritten(part) ? part.bytes : writer.finish();
        if (isWritten(part)) part.release();
        if (held + piece.length > budgetBytes) throw tooLong();
        held += piece.length;
        size += piece.length;
        pieces.push(piece);
      }
    } catch (error) {
      release();
      throw error;
    }
    return { pieces, size, release };
  };
}

function tooLong(): MoorageError {
  return new MoorageError(
    Code.ResourceExhausted,
    "Resource exhausted: lists of gRPC take all the memory they may have now; narrow it by a filter, or use REST",
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
