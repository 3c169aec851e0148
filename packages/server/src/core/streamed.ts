import { create, type DescField, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";

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
  /** The list's elements, some at a time. Whoever stops early calls `return`, as `for await` does. */
  parts: AsyncGenerator<readonly Message[], void, undefined>;
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

/** The whole answer as a message, of at most so many elements; undefined when there are more. */
export async function collected({ output, field, parts }: Streamed, max: number): Promise<Message | undefined> {
  const elements: Message[] = [];
  for await (const part of parts) {
    if (elements.length + part.length > max) return undefined;
    elements.push(...part);
  }
  return create(output, { [field.localName]: elements } as MessageInitShape<DescMessage>);
}
