import type { IncomingHttpHeaders } from "node:http";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";

/** What of an exchange decides whether its client is sent to the blob store. */
interface Asking {
  req: { headers: IncomingHttpHeaders };
  deps: { blobs: Pick<BlobStore, "redirectUrl">; config: Partial<Pick<Config, "blobsRedirectTtlMs">> };
}

/**
 * The URL at which the client may fetch the blob itself. Undefined when the blob is served from here: also to the pages
 * of this server, whose content security policy lets them reach no other. Source: W3C Fetch Metadata.
 */
export async function redirectUrl(
  { req, deps: { blobs, config } }: Asking,
  digest: string,
  generation: string,
): Promise<string | undefined> {
  if (req.headers["sec-fetch-site"] === "same-origin") return undefined;
  const ttlMs = config.blobsRedirectTtlMs ?? 0;
  return ttlMs > 0 ? blobs.redirectUrl?.(digest, generation, ttlMs) : undefined;
}
