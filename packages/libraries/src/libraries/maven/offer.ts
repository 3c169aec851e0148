import { XML_COST } from "../reading/limits.ts";
import type { OfferedDocument } from "../requests/document.ts";
import { type LibraryExchange, upstreamsOf } from "../requests/exchange.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import type { Coordinates } from "./paths.ts";
import { metadataDocument } from "./tasks.ts";
import type { MetadataKind } from "./upstream-metadata.ts";
import { folderOf, urlOf } from "./upstream-paths.ts";

const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/** The upstream's metadata in the folder of an artifact, which is that of a groupId, too. */
export function offeredListing({
  groupId,
  artifactId,
}: Coordinates): (upstream: { url: string }) => OfferedDocument<MetadataKind> {
  const path = `${folderOf({ groupId, artifactId })}/maven-metadata.xml`;
  return (upstream) => ({
    name: path,
    wanted: {
      kind: metadataDocument,
      args: { groupId, artifactId },
      url: urlOf(upstream, path),
      accept: "*/*",
      maxBytes: MAX_METADATA_BYTES,
      weight: XML_COST,
    },
  });
}

/** The same, asked for. Undefined when the upstream has none. Throws 502 and 503. */
export async function upstreamListing(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  coordinates: Coordinates,
): Promise<UpstreamDocument<MetadataKind> | undefined> {
  const { name, wanted } = offeredListing(coordinates)(settings);
  return await upstreamsOf(exchange).documents.of(settings, name, wanted);
}
