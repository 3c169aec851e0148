import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { statement } from "@moorage/kernel/store";
import { keepDocument, keepPieces } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { failureAnswer, UpstreamFailure } from "./errors.ts";
import { DIVIDED, pieceName } from "./row-names.ts";
import type { ReadDocument } from "./read-document.ts";
import type { UpstreamSettings } from "./settings.ts";

/** What is known of a document without its content. */
export interface StoredDocument {
  isMissing: boolean;
  revision: string;
  etag: string;
  lastModified: string;
  /** When this content came, in milliseconds since 1970. */
  fetchedMs: number;
  /** When the upstream was asked last whether it has changed, in milliseconds since 1970. */
  checkedMs: number;
  /** Of its JSON, in bytes. */
  size: number;
  /** Its entries are in pieces, which are rows of their own. */
  isDivided: boolean;
}

/** What is of a divided document as a whole. */
export interface DividedHead {
  head: unknown;
  /** How many pieces it has. */
  pieces: number;
}

type Named = Pick<UpstreamSettings, "uid" | "url"> & { name: string };

type Row = {
  name: string;
  status: number;
  revision: string;
  etag: string;
  last_modified: string;
  fetch_time: number;
  check_time: number;
  size: number;
};
const selectRow = statement<Row>(
  "select name, status, revision, etag, last_modified, fetch_time, check_time, size from upstream_documents where upstream = ? and name in (?, ?) and url = ? order by check_time desc limit 1",
  ["text", "text", "text", "text"],
);
const selectContent = statement<{ content: Uint8Array }>(
  "select content from upstream_documents where upstream = ? and name = ? and url = ? and revision = ?",
  ["text", "text", "text", "text"],
);

/** So many bytes of pieces, and so many pieces, are written in one transaction. */
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_PIECES = 64;
const unpack = promisify(gunzip);

/** Documents of upstreams in the database. A large one is a row for what is of the whole, and one for each piece. */
interface DocumentStore {
  /** Undefined when none is kept. */
  find(document: Named): Promise<StoredDocument | undefined>;
  /** The content, compressed. Throws 503 when another one has just taken its place. */
  packed(document: Named, stored: Pick<StoredDocument, "revision" | "isDivided">): Promise<Uint8Array>;
  /** The content as it was written: the value, or what is of the whole. Throws 503 as `packed` does. */
  content(document: Named, stored: Pick<StoredDocument, "revision" | "isDivided">): Promise<unknown>;
  /** One piece, compressed. Throws 503 as `packed` does. */
  piece(document: Named, revision: string, number: number): Promise<Uint8Array>;
  /** All of so many pieces, in turns. */
  pieces(document: Named, revision: string, count: number): Promise<Uint8Array[]>;
  /** Writes it in place of the one that was kept. */
  keep(
    document: Named,
    read: ReadDocument,
    about: Pick<StoredDocument, "etag" | "lastModified" | "fetchedMs"> & { wasDivided: boolean },
  ): Promise<void>;
}

export function createDocumentStore({ transactor, clock }: Pick<UpstreamDeps, "transactor" | "clock">): DocumentStore {
  const contentOf = async ({ uid, url }: Named, rowName: string, revision: string): Promise<Uint8Array> => {
    const [row] = await transactor.read(systemCallNow(clock), ({ tx }) =>
      selectContent(tx, uid, rowName, url, revision),
    );
    if (row === undefined) throw failureAnswer(new UpstreamFailure("unreachable", "what it said has just changed"));
    return row.content;
  };
  const store: DocumentStore = {
    async find({ uid, url, name }) {
      const [row] = await transactor.read(systemCallNow(clock), ({ tx }) =>
        selectRow(tx, uid, name, name + DIVIDED, url),
      );
      return (
        row && {
          isMissing: row.status !== 200,
          revision: row.revision,
          etag: row.etag,
          lastModified: row.last_modified,
          fetchedMs: row.fetch_time,
          checkedMs: row.check_time,
          size: row.size,
          isDivided: row.name !== name,
        }
      );
    },
    packed: (document, { revision, isDivided }) =>
      contentOf(document, isDivided ? document.name + DIVIDED : document.name, revision),
    async content(document, stored) {
      // It is JSON that was written here.
      return JSON.parse((await unpack(await store.packed(document, stored))).toString());
    },
    piece: (document, revision, number) => contentOf(document, pieceName(document.name, revision, number), revision),
    async pieces(document, revision, count) {
      const turn = createTurns();
      const pieces: Uint8Array[] = [];
      for (let number = 0; number < count; number += 1) {
        pieces.push(await store.piece(document, revision, number));
        await turn();
      }
      return pieces;
    },
    async keep(
      { uid: upstream, url, name },
      { revision, size, content, pieces },
      { fetchedMs, etag, lastModified, wasDivided },
    ) {
      const call = { ...systemCallNow(clock), nowMs: fetchedMs };
      const common = { upstream, url, revision };
      for (const batch of batchesOf(pieces ?? []))
        await transactor.write(keepPieces, call, {
          ...common,
          pieces: batch.map(([number, piece]) => ({ name: pieceName(name, revision, number), content: piece })),
        });
      await transactor.write(keepDocument, call, {
        ...common,
        etag,
        lastModified,
        wasDivided,
        name,
        size,
        content,
        isDivided: pieces !== undefined,
      });
    },
  };
  return store;
}

function batchesOf(pieces: readonly Uint8Array[]): [number: number, piece: Uint8Array][][] {
  const batches: [number, Uint8Array][][] = [];
  let bytes = Infinity;
  for (const [number, piece] of pieces.entries()) {
    if (bytes >= BATCH_BYTES || (batches.at(-1)?.length ?? 0) >= BATCH_PIECES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push([number, piece]);
    bytes += piece.length;
  }
  return batches;
}
