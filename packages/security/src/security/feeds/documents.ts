import { parseJson } from "@moorage/kernel/lib/json";
import type { Part } from "./parts.ts";
import { problemOf, type Read, SourceError, UnreadableRecord } from "../records/record.ts";

/** The largest document, in bytes: the largest that are published have some ten megabytes. */
const MAX_DOCUMENT_BYTES = 64 << 20;
/** How deep objects and lists in a document may be nested. */
const MAX_DEPTH = 64;

/** Reads the records of one document. Throws an UnreadableRecord for the document as a whole. */
export type DocumentReader = (document: unknown, name: string) => Iterable<Read>;

/**
 * The records of a part that is one JSON document. What cannot be read is a problem of the part, or when the source has
 * nothing else, a SourceError.
 */
export async function* documentRecords(
  part: Part,
  read: DocumentReader,
  { maxBytes = MAX_DOCUMENT_BYTES, parse = jsonOf }: { maxBytes?: number; parse?(text: string): unknown } = {},
): AsyncGenerator<Read> {
  try {
    yield* read(parse(await wholeText(part, maxBytes)), part.name);
  } catch (error) {
    if (part.isWhole && error instanceof UnreadableRecord)
      throw new SourceError(`${part.name}: ${error.message}`, { cause: error });
    yield problemOf(error, part.name, stemOf(part.name));
  }
}

/** The name of a file without its folders and its ending. */
export function stemOf(name: string): string {
  return name.replace(/^.*\//, "").replace(/\.[A-Za-z]+$/, "");
}

/** The text of a part in UTF-8. Throws an UnreadableRecord when it is larger than `maxBytes`. */
async function wholeText(part: Part, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part.bytes()) {
    size += chunk.length;
    if (size > maxBytes) throw new UnreadableRecord(`is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks, size));
  } catch (error) {
    throw new UnreadableRecord("is not text in UTF-8", { cause: error });
  }
}

/** Parses JSON. Throws an UnreadableRecord. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text, MAX_DEPTH);
  } catch (error) {
    throw new UnreadableRecord(`is not JSON: ${error instanceof Error ? error.message : ""}`, { cause: error });
  }
}
