import type { Clock } from "@moorage/kernel/lib/clock";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { CallData } from "@moorage/kernel/core/call";
import type { Config } from "@moorage/kernel/config";
import type { MirrorMetrics } from "./metrics.ts";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { systemCallNow } from "@moorage/kernel/core/system-call";

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
    | "allowPrivateNetwork"
    | "baseUrl"
    | "dnsServers"
    | "freeTierTags"
    | "maxManifestBytes"
    | "mirrorSliceMs"
    | "mirrorWorkers"
    | "publicOrganization"
    | "workPollMs"
  >;
}

/** The call data of the server itself, at the current time. */
export function mirrorCall({ clock }: Pick<MirrorDeps, "clock">): CallData {
  return systemCallNow(clock);
}
