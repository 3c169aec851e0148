import { isReservedTag } from "../../registry/index.ts";
import type { Exchange } from "../request.ts";
import { isDigest, isTag } from "../digests.ts";
import { responseSink } from "../body.ts";
import type { Pulled } from "../tags/timed-pull.ts";

/**
 * The manifest as the repo's source has it, for one who may pull it here. Undefined: there is none, or the repo is not
 * pulled through.
 */
export async function manifestFromSource(
  { deps }: Exchange,
  repo: string,
  reference: string,
): Promise<Pulled | undefined> {
  if (!isDigest(reference) && (!isTag(reference) || isReservedTag(reference))) return undefined;
  const found = await deps.upstream?.manifest(repo, reference);
  return found && { digest: found.digest, media_type: found.manifest.mediaType, content: found.content };
}

/**
 * Answers with a blob of the repo's source, whole, while it is copied; `here`: somebody else has just had it copied.
 * `nowhere`: the source has none, or the repo is not pulled through.
 */
export async function blobFromSource(
  exchange: Exchange,
  repo: string,
  digest: string,
): Promise<"answered" | "here" | "nowhere"> {
  const {
    req,
    res,
    deps: { upstream },
  } = exchange;
  const begin = (size: number): void => {
    const headers = {
      "docker-content-digest": digest,
      etag: `"${digest}"`,
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
    };
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.setHeader("content-length", size);
  };
  if (upstream === undefined) return "nowhere";
  if (req.method === "HEAD") {
    const size = await upstream.blobSize(repo, digest);
    if (size === undefined) return "nowhere";
    begin(size);
    res.end();
    return "answered";
  }
  let length: number | undefined;
  const there = await upstream.blob(repo, digest, (size) => {
    length = size;
    const sink = responseSink(exchange);
    return async (chunk) => {
      if (!res.headersSent) begin(size);
      await sink(chunk);
    };
  });
  if (!there) return "nowhere";
  if (length === undefined) return "here";
  if (!res.headersSent) begin(length);
  res.end();
  return "answered";
}
