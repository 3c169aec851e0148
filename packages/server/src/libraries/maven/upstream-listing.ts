import { type LibraryExchange, upstreamsOf } from "../requests/exchange.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import type { Coordinates } from "./paths.ts";
import { folderOf, urlOf } from "./upstream-paths.ts";

const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/**
 * The upstream's metadata in the folder of an artifact, which is that of a groupId, too. Undefined when it has none.
 * Throws 502 and 503.
 */
export async function upstreamListing(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  coordinates: Coordinates,
): Promise<UpstreamDocument<"maven.metadata"> | undefined> {
  const { groupId, artifactId } = coordinates;
  const path = `${folderOf(coordinates)}/maven-metadata.xml`;
  return await upstreamsOf(exchange).documents.of(settings, path, {
    kind: "maven.metadata",
    args: { groupId, artifactId },
    url: urlOf(settings, path),
    accept: "*/*",
    maxBytes: MAX_METADATA_BYTES,
  });
}
