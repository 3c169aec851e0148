import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { LibraryMetrics } from "./metrics.ts";
import type { Reading } from "../reading/open.ts";

/** What upstreams work with. */
export interface UpstreamDeps {
  transactor: Transactor;
  blobs: BlobStore;
  secrets: Secrets;
  clock: Clock;
  metrics: LibraryMetrics;
  /** Where documents are read. */
  reading: Reading;
  /** Whether other processes may serve the same installation. */
  isShared: boolean;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  config: Pick<
    Config,
    | "allowPrivateNetwork"
    | "dnsServers"
    | "maxLibraryFileBytes"
    | "upstreamTtlMs"
    | "upstreamTimeoutMs"
    | "upstreamFileTimeoutMs"
    | "upstreamMaxDocumentBytes"
  >;
}
