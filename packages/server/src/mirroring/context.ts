import type { Clock } from "../lib/clock.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { BlobStore } from "../blobs/index.ts";
import type { CallData } from "../core/call.ts";
import type { Config } from "../config/index.ts";
import type { MirrorPlace } from "./commands.ts";
import type { MirrorMetrics } from "../observe/index.ts";
import type { Transactor } from "../core/transactor.ts";
import type { Downloads } from "./downloads.ts";
import type { ReferrerGaps } from "./referrer-gaps.ts";
import type { Upstream } from "./registry-client.ts";
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

/** A copy job: the source repository and the repo it goes to. */
export interface CopyJob {
  deps: Pick<MirrorDeps, "transactor" | "blobs" | "clock" | "metrics">;
  downloads: Downloads;
  upstream: Upstream;
  place: MirrorPlace;
  signal: AbortSignal;
  gaps: ReferrerGaps;
}

/** The call data of the server itself, at the current time. */
export function mirrorCall({ clock }: Pick<MirrorDeps, "clock">): CallData {
  return systemCallNow(clock);
}
