import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { bytesIn, type HandedBytes } from "../reading/handed.ts";
import { INLINE_BYTES } from "../reading/limits.ts";
import { type KindArgs, type KindName, type KindValue, loadKind, type ParseContext } from "./kinds.ts";
import { divided, type DocumentInput, wholeOf } from "./pieces.ts";

/** A document as it arrived. */
export interface ArrivedDocument<Name extends KindName = KindName> extends Omit<ParseContext<unknown>, "previous"> {
  kind: Name;
  args: KindArgs<Name>;
  bytes: HandedBytes;
  previous: DocumentInput<Name> | undefined;
}

/** What is kept of a document. */
export interface ReadDocument {
  /** Of its JSON, in bytes. */
  size: number;
  /** Changes with its content. */
  revision: string;
  /** Compressed: the whole document, or of a divided one what is of the whole. */
  content: Uint8Array;
  /** Those of a divided one, compressed; undefined for one that is not. */
  pieces: Uint8Array[] | undefined;
  /** Of one that is not divided, and small. */
  value?: unknown;
}

/** It is read once after each start: that it is written fast counts more than its size. */
const LEVEL = { level: 1 } as const;

/** Reads a document. Throws an Error with the reason, for people, when it is none. */
export async function readDocument<Name extends KindName>({
  kind: name,
  args,
  bytes,
  previous,
  ...context
}: ArrivedDocument<Name>): Promise<ReadDocument> {
  const kind = await loadKind(name);
  const value = await kind.parse(bytesIn(bytes), args, {
    ...context,
    previous: previous && (await wholeOf(previous)),
  });
  return await packed(name, value);
}

/** Divides a document that is kept in one piece. */
export async function divideKept<Name extends KindName>({
  kind,
  content,
}: {
  kind: Name;
  content: Uint8Array;
}): Promise<ReadDocument> {
  return await packed(kind, JSON.parse(gunzipSync(content).toString()) as KindValue<Name>);
}

async function packed<Name extends KindName>(name: Name, value: KindValue<Name>): Promise<ReadDocument> {
  const { parts } = await loadKind(name);
  const text = Buffer.from(JSON.stringify(value));
  const revision = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  const size = text.length;
  if (size <= INLINE_BYTES || parts === undefined)
    return {
      size,
      revision,
      content: gzipSync(text, LEVEL),
      pieces: undefined,
      ...(size <= INLINE_BYTES && { value }),
    };
  const { head, entries } = parts.split(value);
  const pieces = divided(entries, size);
  return {
    size,
    revision,
    content: gzipSync(JSON.stringify({ head, pieces: pieces.length }), LEVEL),
    pieces: pieces.map((piece) => gzipSync(piece, LEVEL)),
  };
}
