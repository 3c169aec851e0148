import type { LibraryExchange } from "../http/exchange.ts";
import type { DocumentAdapter, UpstreamDocument } from "../upstreams/documents.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import type { Coordinates } from "./paths.ts";
import type { UpstreamMetadata } from "./upstream-metadata.ts";
import { folderOf, lastModifiedMs, urlOf } from "./upstream-paths.ts";

const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/**
 * The upstream's metadata in the folder of an artifact, which is that of a groupId, too. Undefined when it has none.
 * Throws 502 and 503.
 */
export async function upstreamListing(
  { deps }: LibraryExchange,
  settings: UpstreamSettings,
  coordinates: Coordinates,
): Promise<UpstreamDocument<UpstreamMetadata> | undefined> {
  const path = `${folderOf(coordinates)}/maven-metadata.xml`;
  const adapter: DocumentAdapter<UpstreamMetadata> = {
    url: urlOf(settings, path),
    accept: "*/*",
    maxBytes: MAX_METADATA_BYTES,
    parse: async (bytes, { headers, nowMs, previous }) => {
      const { upstreamMetadata } = await import("./upstream-metadata.ts");
      // A version that is listed was there when the document came to be.
      const modifiedMs = lastModifiedMs(headers, nowMs) ?? nowMs;
      return upstreamMetadata(bytes.toString(), coordinates, { modifiedMs, previous });
    },
  };
  return await deps.upstreams.documents.of(settings, path, adapter);
}
