import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { isWritten, type Written } from "./written-answer.ts";

const STREAMED: unique symbol = Symbol("streamed");

/**
 * An answer with one list that is read while it is sent, so that it takes as much memory as a part of it. Source: spec,
 * "Differences from v1": lists of v1 have no pages.
 */
export interface Streamed<O extends DescMessage = DescMessage> {
  readonly [STREAMED]: true;
  output: O;
  /** The list; the message has no other field. */
  field: DescField;
  /**
   * The list's elements, some at a time, or a whole answer with some of them, in the form of the call. Whoever stops
   * early calls `return`, as `for await` does.
   */
  parts: AsyncGenerator<readonly Message[] | Written, void, undefined>;
}

export function isStreamed(answer: object): answer is Streamed {
  return STREAMED in answer;
}

/** Such an answer. Throws when the message has another field beside the list. */
export function streamed<O extends DescMessage>(output: O, parts: Streamed["parts"]): Streamed<O> {
  const [field, ...others] = output.fields;
  if (field?.fieldKind !== "list" || others.length > 0) throw new Error(`${output.typeName} is not one list`);
  return { [STREAMED]: true, output, field, parts };
}

/**
 * The whole answer as a message, of at most so many elements, of which at most `maxBytes` were made in another process;
 * undefined when there are more.
 */
export async function collected(
  { output, field, parts }: Streamed,
  { max, maxBytes }: { max: number; maxBytes: number },
): Promise<Message | undefined> {
  const elements: Message[] = [];
  let bytes = 0;
  for await (const part of parts) {
    const some = isWritten(part) ? elementsOf(output, field, part) : part;
    if (isWritten(part)) bytes += part.bytes.length;
    if (elements.length + some.length > max || bytes > maxBytes) return undefined;
    for (const element of some) elements.push(element);
  }
  return create(output, { [field.localName]: elements } as MessageInitShape<DescMessage>);
}

function elementsOf(output: DescMessage, field: DescField, part: Written): readonly Message[] {
  try {
    return (fromBinary(output, part.bytes) as Message & Record<string, readonly Message[]>)[field.localName] ?? [];
  } finally {
    part.release();
  }
}
