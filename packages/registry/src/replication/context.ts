import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Tokens } from "@moorage/platform/auth";
import type { ReplicationMetrics } from "./metrics.ts";

/** The dependencies of replications. */
export interface ReplicationDeps {
  transactor: Transactor;
  blobs: BlobStore;
  secrets: Secrets;
  tokens: Pick<Tokens, "mint">;
  metrics: Pick<ReplicationMetrics, "ended" | "sent">;
  clock: Clock;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  config: Pick<Config, "allowPrivateNetwork" | "dnsServers" | "mirrorWorkers" | "workPollMs">;
}

/** The call data of the server itself, at the current time. */
export function replicationCall({ clock }: Pick<ReplicationDeps, "clock">): CallData {
  return systemCallNow(clock);
}
