import type { BlobStore } from "../../blobs/index.ts";
import type { Config } from "../../config/index.ts";
import type { Transactor } from "../../core/transactor.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Secrets } from "../../lib/secrets.ts";
import type { LibraryMetrics } from "../../observe/index.ts";
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
