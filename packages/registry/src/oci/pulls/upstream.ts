import { isReservedTag } from "../../registry/index.ts";
import type { Exchange } from "../request.ts";
import { isDigest, isTag } from "../digests.ts";
import { responseSink } from "../body.ts";
import { begin } from "../send.ts";
import type { Pulled } from "./pulled-manifest.ts";

/**
 * The manifest from the source of the repo, for a caller who may pull it here. Undefined when the source has none, or
 * the repo does not pull through.
 */
export async function manifestFromSource(
  { deps, data }: Exchange,
  repo: string,
  reference: string,
): Promise<Omit<Pulled, "policy" | "deprecation" | "signing"> | undefined> {
  if (!isDigest(reference) && (!isTag(reference) || isReservedTag(reference))) return undefined;
  data.turn?.end();
  const found = await deps.upstream?.manifest(repo, reference);
  return found && { digest: found.digest, media_type: found.manifest.mediaType, content: found.content };
}

/**
 * Answers with a whole blob from the source of the repo, while it is copied, and returns its size in bytes. "copied"
 * when another request has copied it meanwhile and nothing was answered; "missing" when the source has no such blob, or
 * the repo does not pull through.
 */
export async function blobFromSource(
  exchange: Exchange,
  repo: string,
  digest: string,
): Promise<number | "copied" | "missing"> {
  const {
    req,
    res,
    data,
    deps: { upstream },
  } = exchange;
  const headers = {
    "docker-content-digest": digest,
    etag: `"${digest}"`,
    "content-type": "application/octet-stream",
    "x-content-type-options": "nosniff",
  };
  if (upstream === undefined) return "missing";
  data.turn?.end();
  if (req.method === "HEAD") {
    const size = await upstream.blobSize(repo, digest);
    if (size === undefined) return "missing";
    begin(exchange, 200, headers, size);
    res.end();
    return size;
  }
  let length: number | undefined;
  const exists = await upstream.blob(repo, digest, (size) => {
    length = size;
    const sink = responseSink(exchange);
    return async (chunk) => {
      if (!res.headersSent) begin(exchange, 200, headers, size);
      await sink(chunk);
    };
  });
  if (!exists) return "missing";
  if (length === undefined) return "copied";
  if (!res.headersSent) begin(exchange, 200, headers, length);
  res.end();
  return length;
}
