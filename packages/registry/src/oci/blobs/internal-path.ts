import { type BlobStore, SMALL_BLOB_BYTES } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { Addresses } from "@moorage/kernel/core/addresses";
import type { Request } from "@moorage/kernel/core/http";

/** What of an exchange decides whether the proxy that it came through sends the file. */
interface Asking {
  req: Request;
  deps: {
    blobs: Pick<BlobStore, "filePath">;
    config: Partial<Pick<Config, "blobsInternalPath">>;
    addresses: Pick<Addresses, "isProxied">;
  };
}

/**
 * The path at which the proxy of the request finds the content, for its X-Accel-Redirect header. Undefined when the
 * server sends it: always to those who come without the proxy, and what is small, which is quicker so. Source: nginx,
 * ngx_http_proxy_module, "X-Accel-Redirect".
 */
export function internalPath(
  { req, deps: { blobs, config, addresses } }: Asking,
  { digest, generation, size }: { digest: string; generation: string; size: number },
): string | undefined {
  const { blobsInternalPath: folder = "" } = config;
  if (folder === "" || req.method !== "GET" || size <= SMALL_BLOB_BYTES || !addresses.isProxied(req)) return undefined;
  const path = blobs.filePath?.(digest, generation);
  return path === undefined ? undefined : folder + path;
}
