import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { bytesIn, type HandedBytes } from "../reading/hand-over.ts";
import { INLINE_BYTES } from "../reading/limits.ts";
import type { AnyKind, ParseContext } from "../ecosystem/document-kind.ts";
import { kindNamed } from "../ecosystem/lookup.ts";
import { divided, type DocumentInput, wholeOf } from "./pieces.ts";

/** A document as it arrived. `kind`: the name of its kind, and `args` what that takes. */
export interface ArrivedDocument extends Omit<ParseContext<unknown>, "previous"> {
  kind: string;
  args: unknown;
  bytes: HandedBytes;
  previous: DocumentInput<AnyKind> | undefined;
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
export async function readDocument({
  kind: name,
  args,
  bytes,
  previous,
  ...context
}: ArrivedDocument): Promise<ReadDocument> {
  const { parse } = await kindNamed(name).load();
  const value: unknown = await parse(bytesIn(bytes), args, {
    ...context,
    previous: previous && (await wholeOf(previous)),
  });
  return await packed(name, value);
}

/** Divides a document that is kept in one piece. */
export async function divideKept({ kind, content }: { kind: string; content: Uint8Array }): Promise<ReadDocument> {
  return await packed(kind, JSON.parse(gunzipSync(content).toString()));
}

async function packed(name: string, value: unknown): Promise<ReadDocument> {
  const { parts } = await kindNamed(name).load();
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
