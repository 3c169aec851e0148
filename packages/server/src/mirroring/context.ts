import type { Clock } from "../lib/clock.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { BlobStore } from "../blobs/index.ts";
import type { CallData } from "../core/call.ts";
import type { Config } from "../config/index.ts";
import type { MirrorMetrics } from "../observe/index.ts";
import type { Transactor } from "../core/transactor.ts";
import { systemCallNow } from "../core/system-call.ts";

/** The dependencies of mirroring. */
export interface MirrorDeps {
  transactor: Transactor;
  blobs: BlobStore;
  secrets: Secrets;
  clock: Clock;
  metrics: MirrorMetrics;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  config: Pick<
    Config,
    "allowPrivateNetwork" | "dnsServers" | "maxManifestBytes" | "mirrorSliceMs" | "mirrorWorkers" | "workPollMs"
  >;
}

/** The call data of the server itself, at the current time. */
export function mirrorCall({ clock }: Pick<MirrorDeps, "clock">): CallData {
  return systemCallNow(clock);
}
