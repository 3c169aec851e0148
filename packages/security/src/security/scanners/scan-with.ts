import { setTimeout as wait } from "node:timers/promises";
import { ScanType, type ScannerAdapter } from "@moorage/api/messages";
import type { Config } from "@moorage/kernel/config";
import { type AdapterAddress, AdapterError, type AdapterRequest, openAdapter } from "./adapter.ts";
import { reportFor, sbomFormat } from "./mime-types.ts";
import type { ClaimedScan } from "./queue.ts";

/** A report as the adapter sent it, and what the adapter says of itself. */
export interface Scanned {
  content: Buffer;
  mimeType: string;
  adapter: ScannerAdapter;
}

export interface ScanJob {
  address: AdapterAddress;
  image: Pick<ClaimedScan, "path" | "digest" | "tag" | "manifestType" | "type">;
  /** Where the adapter pulls the image, and with which Authorization header. */
  registry: AdapterRequest["registry"];
  config: Pick<Config, "allowPrivateNetwork" | "dnsServers">;
  /** Ends the waiting for the report. */
  signal: AbortSignal;
  /** The longest time until there is a report. */
  timeoutMs: number;
  /** Called when the adapter has taken the request. Answers whether to go on. */
  accepted(adapter: ScannerAdapter): Promise<boolean>;
}

/** What the capabilities are called that adapters are asked for. */
const CAPABILITIES: Readonly<Record<number, string>> = {
  [ScanType.VULNERABILITY]: "vulnerability",
  [ScanType.SBOM]: "sbom",
};

/**
 * Has an adapter scan an image: asks what it takes, sends the request if it takes such an image, and asks for the
 * report until there is one. Undefined when `signal` ended it, or `accepted` said not to go on. Throws an AdapterError.
 */
export async function scanWith({
  address,
  image,
  registry,
  config,
  signal,
  timeoutMs,
  accepted,
}: ScanJob): Promise<Scanned | undefined> {
  const adapter = openAdapter(address, config, signal);
  const endsMs = performance.now() + timeoutMs;
  const metadata = await adapter.metadata();
  const mimeType = reportFor(metadata, image.type, image.manifestType);
  if (mimeType === undefined)
    throw new AdapterError(`the adapter makes no report that is read here of ${image.manifestType}`, { isFinal: true });
  const format = image.type === ScanType.SBOM ? sbomFormat(metadata) : undefined;
  const wanted = { type: CAPABILITIES[image.type] ?? "", produces_mime_types: [mimeType] };
  const { path: repository, digest, tag, manifestType } = image;
  const id = await adapter.requestScan({
    registry,
    artifact: { repository, digest, ...(tag !== "" && { tag }), mime_type: manifestType },
    enabled_capabilities: [{ ...wanted, ...(format !== undefined && { parameters: { sbom_media_types: [format] } }) }],
  });
  if (!(await accepted(metadata))) return undefined;
  for (;;) {
    const answer = await adapter.report(id, mimeType, format);
    if ("content" in answer) return { content: answer.content, mimeType, adapter: metadata };
    if (performance.now() + answer.waitMs > endsMs)
      throw new AdapterError(`the adapter had no report within ${timeoutMs} ms`, { isFinal: false });
    await wait(answer.waitMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return undefined;
  }
}
