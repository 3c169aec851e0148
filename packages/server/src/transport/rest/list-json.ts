import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Streamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten, type Written } from "@moorage/kernel/core/written-answer";
import { jsonWriter, V1_ANSWER } from "@moorage/kernel/lib/protojson/write";
import { steps } from "../steps.ts";

/** A list as JSON, in pieces, each made when the one before was taken. As in v1, an empty list is left out. */
export async function* listJson({ field, parts }: Streamed): AsyncGenerator<string | Uint8Array, void, undefined> {
  const write = jsonWriter(elementOf(field.message), V1_ANSWER);
  const beginning = `{"${field.jsonName}":[`;
  let before = beginning;
  for await (const part of parts) {
    if (isWritten(part)) {
      const elements = elementsIn(part, beginning);
      try {
        if (elements.length === 0) continue;
        yield before;
        yield* steps(elements);
      } finally {
        part.release();
      }
    } else {
      if (part.length === 0) continue;
      yield before + part.map((element: Message) => write(element)).join(",");
    }
    before = ",";
  }
  yield before === "," ? "]}" : "{}";
}

/** What stands between the brackets of a list that was written as a whole. */
function elementsIn({ bytes }: Written, beginning: string): Uint8Array {
  return bytes.subarray(Buffer.byteLength(beginning), Math.max(0, bytes.length - "]}".length));
}

function elementOf(message: DescMessage | undefined): DescMessage {
  if (message === undefined) throw new Error("a streamed list is of messages");
  return message;
}
