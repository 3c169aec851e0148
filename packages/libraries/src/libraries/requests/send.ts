import { beginAnswer } from "@moorage/kernel/core/http";
import type { Caller } from "@moorage/kernel/core/call";
import { matchesEtag } from "@moorage/kernel/lib/etags";
import { createLru } from "@moorage/kernel/lib/lru";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { copyOf, internalPath, parseRange, redirectUrl, responseSink } from "@moorage/registry/oci";
import { SMALL_BLOB_BYTES, type StoredBlob } from "@moorage/kernel/blobs";
import type { Row } from "@moorage/kernel/store";
import { isKnown, cacheAnswer } from "./cache.ts";
import type { CachedAnswer, LibraryExchange } from "./exchange.ts";
import { libraryError } from "../http/errors.ts";

/**
 * Answers with a body in memory; a text has one character for each byte. A HEAD request gets its length alone, 304 no
 * body.
 */
export function send(
  exchange: LibraryExchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | string,
): void {
  const { req, res, data } = exchange;
  if (status === 200 && typeof body !== "string") cacheAnswer(exchange, headers, body);
  const isEmpty = status === 304 || status === 204;
  begin(exchange, status, headers, isEmpty ? undefined : body.length);
  if (isEmpty) return void res.end();
  if (req.method === "HEAD") return void res.end();
  if (data.observed !== undefined) data.observed.sentBytes += body.length;
  // Node sends headers and body in one write when the body is a text, and in two when it is bytes.
  if (typeof body === "string") res.end(body, "latin1");
  else res.end(body);
}

/** Begins an answer, with the headers that all answers have. `length`: of the body in bytes, if it is known. */
export function begin(
  { res, data }: Pick<LibraryExchange, "res" | "data">,
  status: number,
  headers: Readonly<Record<string, string>>,
  length?: number,
): void {
  beginAnswer(res, status, ["x-request-id", data.requestId, "x-content-type-options", "nosniff"], headers, length);
}

/** Answers as the same request was answered before. */
export function sendCached(
  exchange: LibraryExchange,
  { answer: cached, caller }: { answer: CachedAnswer; caller: Caller },
): void {
  noteDownload(exchange, cached.download, caller);
  if (isKnown(exchange, cached)) send(exchange, 304, cached.headers, "");
  else send(exchange, 200, cached.headers, cached.body);
}

export function sendJson(
  exchange: LibraryExchange,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(exchange, status, { "content-type": "application/json", ...headers }, Buffer.from(JSON.stringify(body)));
}

/** Counts a GET that is answered with a whole file, with 304, or with where to get it. */
function noteDownload(
  { req, deps, callData }: LibraryExchange,
  download: LibraryExchange["download"],
  { identity }: Caller,
): void {
  if (download !== undefined && req.method === "GET")
    deps.downloads?.note(download, { identity, nowMs: callData.nowMs });
}

const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Small files that were sent, by their digests, each checked when it was read: content never changes, and what many
 * installations ask for is read from the disk once.
 */
const contents = createLru<string, Uint8Array>(CACHE_BYTES, (content) => content.length);

/** A small content, from memory or read and verified. Throws DATA_LOSS for what is not the content of its digest. */
async function contentOf(
  { deps }: LibraryExchange,
  { digest, generation }: Pick<StoredBlob, "digest" | "generation">,
): Promise<Uint8Array> {
  const known = contents.get(digest);
  if (known !== undefined) return known;
  const content = await deps.blobs.readWhole(digest, generation);
  contents.set(digest, content);
  return content;
}

/** What of a file is sent. */
export interface SentFile {
  file: Pick<Row<"artifact_files">, "name" | "size" | "digest">;
  contentType: string;
  /** Other headers, such as sums. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Answers a GET or HEAD with a file's content, or the part of it that a Range header asks for. The ETag is its digest;
 * a file that is the same for ever is kept by clients, not by shared caches: who may read it can change. A GET may be
 * redirected to the blob store, as that of a blob. A GET of all of it counts as a download. Throws 404 when the content
 * is gone, and 416.
 */
export async function sendFile(
  exchange: LibraryExchange,
  { file, contentType, headers = {} }: SentFile,
): Promise<void> {
  const { req, res, deps, data } = exchange;
  const { digest, size } = file;
  const stored = await deps.transactor.read(exchange.callData, (call) => copyOf(call, digest));
  if (stored === undefined) throw libraryError(404, `Not found: the content of ${file.name}`);
  const etag = `"${digest}"`;
  const all: Record<string, string> = {
    "cache-control": "private, max-age=31536000, immutable",
    "content-type": contentType,
    "accept-ranges": "bytes",
    etag,
    ...headers,
  };
  const noteWhole = (): void => noteDownload(exchange, exchange.download, exchange.caller);
  if (matchesEtag(req.headers["if-none-match"], etag)) {
    noteWhole();
    return send(exchange, 304, all, Buffer.alloc(0));
  }
  const location =
    req.method === "GET" && size > 0 ? await redirectUrl(exchange, digest, stored.generation) : undefined;
  // A client repeats its Range header at the new address.
  if (location !== undefined) {
    if (req.headers.range === undefined) noteWhole();
    return send(exchange, 307, { ...headers, etag, location, "cache-control": "no-store" }, Buffer.alloc(0));
  }
  const inner = internalPath(exchange, { digest, generation: stored.generation, size });
  // The proxy reads the Range header itself.
  if (inner !== undefined) {
    if (req.headers.range === undefined) noteWhole();
    return send(exchange, 200, { ...all, "x-accel-redirect": inner }, Buffer.alloc(0));
  }
  const ifRange = req.headers["if-range"];
  const asked = req.method === "GET" && (ifRange === undefined || ifRange === etag) ? req.headers.range : undefined;
  const range = parseRange(asked, size);
  if (range === "unsatisfiable")
    throw libraryError(416, "Range not satisfiable", { "content-range": `bytes */${size}` });
  const part = range === "whole" ? { start: 0, end: size - 1 } : range;
  if (range !== "whole") all["content-range"] = `bytes ${part.start}-${part.end}/${size}`;
  const status = range === "whole" ? 200 : 206;
  const beginPart = (): void => begin(exchange, status, all, part.end - part.start + 1);
  if (req.method === "HEAD" || size === 0) {
    beginPart();
    return void res.end();
  }
  try {
    if (size <= SMALL_BLOB_BYTES) {
      const content = await contentOf(exchange, { digest, generation: stored.generation });
      // Its content never changes, and a version that is open stays open until somebody changes something.
      exchange.goodUntilMs = Infinity;
      if (range === "whole") {
        noteWhole();
        return send(exchange, 200, all, content);
      }
      beginPart();
      if (data.observed !== undefined) data.observed.sentBytes += part.end - part.start + 1;
      return void res.end(content.subarray(part.start, part.end + 1));
    }
    const sink = responseSink(exchange);
    const take = async (chunk: Buffer): Promise<void> => {
      if (!res.headersSent) beginPart();
      await sink(chunk);
    };
    // A part cannot be verified by the digest of the whole.
    if (range === "whole") await deps.blobs.readAll({ digest, generation: stored.generation, size }, take);
    else await deps.blobs.read(digest, stored.generation, part, take);
    // A part is none: some clients read the metadata in a file so, and go on where one broke off.
    if (range === "whole") noteWhole();
    res.end();
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.NotFound && !res.headersSent)
      throw libraryError(404, `Not found: the content of ${file.name}`);
    throw error;
  }
}
