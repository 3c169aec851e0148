import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { AnyKind, KindEntry, KindHead, KindValue, Split } from "../ecosystem/document-kind.ts";
import { kindNamed } from "../ecosystem/lookup.ts";

/** Of a piece, of JSON. An entry is in the piece of its key, so that one is found without the others. */
const PIECE_BYTES = 96 * 1024;
const MAX_PIECES = 4_000;
const unpack = promisify(gunzip);

/** A document as tasks get it: small, or divided into pieces that are compressed. */
export type DocumentInput<K extends AnyKind> =
  | { value: KindValue<K> }
  | { kind: string; head: KindHead<K>; pieces: readonly Uint8Array[] };

type PieceEntry = readonly [key: string, position: number, entry: unknown];

/** Divides the entries of a document of so many bytes into pieces, as JSON. */
export function divided(entries: Split<unknown, unknown>["entries"], bytes: number): string[] {
  const count = Math.min(MAX_PIECES, Math.max(1, Math.ceil(bytes / PIECE_BYTES)));
  const pieces: PieceEntry[][] = Array.from({ length: count }, () => []);
  for (const [position, [key, entry]] of entries.entries()) pieces[pieceOf(key, count)]?.push([key, position, entry]);
  return pieces.map((piece) => JSON.stringify(piece));
}

/** The number of the piece that has the entry of a key, of so many pieces. By FNV-1a. */
export function pieceOf(key: string, count: number): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01_00_01_93);
  return (hash >>> 0) % count;
}

/** One entry of a piece. */
export async function entryIn(piece: Uint8Array, key: string): Promise<unknown> {
  return (await entriesIn(piece)).find(([each]) => each === key)?.[2];
}

async function entriesIn(piece: Uint8Array): Promise<PieceEntry[]> {
  return JSON.parse((await unpack(piece)).toString()) as PieceEntry[];
}

/** The whole document. To be called of a large one only where tasks run. */
export async function wholeOf<K extends AnyKind>(document: DocumentInput<K>): Promise<KindValue<K>> {
  if ("value" in document) return document.value;
  const { parts } = await kindNamed(document.kind).load();
  if (parts === undefined) throw new Error(`documents of the kind ${document.kind} have no parts`);
  const all: PieceEntry[] = [];
  for (const piece of document.pieces) for (const entry of await entriesIn(piece)) all.push(entry);
  all.sort(([, one], [, other]) => one - other);
  const entries = all.map(([key, , entry]): readonly [string, KindEntry<K>] => [key, entry as KindEntry<K>]);
  return parts.join({ head: document.head, entries }) as KindValue<K>;
}
