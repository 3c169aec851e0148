import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { matchesEtag } from "@moorage/kernel/lib/etags";
import { responseSink } from "@moorage/registry/oci";
import type { Rendered } from "./rendering.ts";
import type { LibraryExchange } from "./exchange.ts";
import { begin, send } from "./send.ts";

/**
 * Answers with a document that was rendered, compressed where the client takes that and `isCompressed` allows it; a
 * large one that is not is unpacked as it is sent.
 */
export async function sendRendered(
  exchange: LibraryExchange,
  document: Rendered,
  given: Readonly<Record<string, string>>,
  { isCompressed }: { isCompressed: boolean },
): Promise<void> {
  const { "if-none-match": known, "accept-encoding": encodings = "" } = exchange.req.headers;
  const { etag, plain, gzipped } = document;
  const headers = { ...given, etag };
  if (matchesEtag(known, etag)) return send(exchange, 304, headers, Buffer.alloc(0));
  if (isCompressed && /\bgzip\b/.test(String(encodings)))
    return send(exchange, 200, { ...headers, "content-encoding": "gzip" }, gzipped);
  if (plain !== undefined) return send(exchange, 200, headers, plain);
  await sendUnpacked(exchange, document, headers);
}

async function sendUnpacked(
  exchange: LibraryExchange,
  { gzipped, plainBytes }: Rendered,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { req, res } = exchange;
  begin(exchange, 200, headers, plainBytes);
  if (req.method === "HEAD") return void res.end();
  const sink = responseSink(exchange);
  for await (const chunk of unpacked(gzipped)) await sink(chunk);
  res.end();
}

/** A sum of a document that was rendered, in hex. */
export async function sumOfRendered({ plain, gzipped }: Rendered, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  if (plain !== undefined) return hash.update(plain).digest("hex");
  for await (const chunk of unpacked(gzipped)) hash.update(chunk);
  return hash.digest("hex");
}

const CHUNK_BYTES = 256 * 1024;

function unpacked(gzipped: Uint8Array): AsyncIterable<Buffer> {
  return Readable.from([gzipped]).pipe(createGunzip({ chunkSize: CHUNK_BYTES }));
}
