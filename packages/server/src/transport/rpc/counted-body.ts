import type { DescMethod } from "@bufbuild/protobuf";
import { hasMoreValues } from "@moorage/kernel/lib/json";
import { hasMoreFields } from "@moorage/kernel/lib/protobuf-size";
import { MAX_MESSAGE_VALUES } from "../http/limits.ts";
import { PREFIX_BYTES } from "./grpc-body.ts";
import { encodingOf } from "./grpc-encoding.ts";

/** A call has one message. The adapter takes the next one to see that there is none. */
const MAX_MESSAGES = 2;

export interface CountedBodyOptions {
  /** The largest message, decompressed. */
  maxBytes: number;
  /** The error for a message of too many values. */
  reject(): Error;
}

/**
 * The body of a call with one message, which Connect's adapter reads in one step: it is held until it is whole, and
 * ends with an error where reading its message would make too many values. Nothing is read before it is asked for. A
 * body that is too large, or no message, is handed on as it is: the adapter refuses it.
 */
export async function* countedBody(
  { input }: DescMethod,
  header: Headers,
  body: AsyncIterable<Uint8Array>,
  { maxBytes, reject }: CountedBodyOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes + PREFIX_BYTES) {
      yield* chunks;
      yield chunk;
      continue;
    }
    chunks.push(chunk);
  }
  if (size > maxBytes + PREFIX_BYTES) return;
  const whole = Buffer.concat(chunks, size);
  for (const message of await messagesIn(whole, header, maxBytes))
    if (
      isJson(header)
        ? hasMoreValues(message.toString(), MAX_MESSAGE_VALUES)
        : hasMoreFields(input, message, MAX_MESSAGE_VALUES)
    )
      throw reject();
  yield whole;
}

function typeOf(header: Headers): string {
  return (header.get("content-type") ?? "").toLowerCase();
}

function isJson(header: Headers): boolean {
  return typeOf(header).includes("json");
}

/** The messages of a body, decompressed; those that cannot be read are left out. */
async function messagesIn(whole: Buffer, header: Headers, maxBytes: number): Promise<Buffer[]> {
  const type = typeOf(header);
  const isBare = type.startsWith("application/json") || type === "application/proto";
  if (isBare) return await plain([{ isCompressed: true, bytes: whole }], header.get("content-encoding"), maxBytes);
  const messages: { isCompressed: boolean; bytes: Buffer }[] = [];
  for (let at = 0; at + PREFIX_BYTES <= whole.length;) {
    const size = whole.readUInt32BE(at + 1);
    const isCompressed = (whole[at] ?? 0) % 2 === 1;
    messages.push({ isCompressed, bytes: whole.subarray(at + PREFIX_BYTES, at + PREFIX_BYTES + size) });
    at += PREFIX_BYTES + size;
    if (messages.length === MAX_MESSAGES) break;
  }
  return await plain(messages, header.get("grpc-encoding") ?? header.get("connect-content-encoding"), maxBytes);
}

async function plain(
  messages: readonly { isCompressed: boolean; bytes: Buffer }[],
  encodingName: string | null,
  maxBytes: number,
): Promise<Buffer[]> {
  try {
    const encoding = encodingOf(encodingName ?? undefined);
    if (encoding === undefined) return messages.map(({ bytes }) => bytes);
    const all: Buffer[] = [];
    for (const { isCompressed, bytes } of messages)
      all.push(isCompressed ? Buffer.from(await encoding.decompress(bytes, maxBytes)) : bytes);
    return all;
  } catch {
    // The adapter finds it wrong as well, or too large.
    return [];
  }
}
