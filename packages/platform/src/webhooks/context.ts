import type { Config } from "@moorage/kernel/config";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { EventMetrics } from "../events/index.ts";
import type { Database } from "@moorage/kernel/store";
import type { Tokens } from "../auth/index.ts";

/** The dependencies of event delivery. */
export interface DeliveryDeps {
  transactor: Transactor;
  /** Reads without the transactor: polling for due deliveries would distort the transaction metrics. */
  reader: Database;
  tokens: Pick<Tokens, "mint">;
  secrets: Secrets;
  clock: Clock;
  metrics: EventMetrics;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** The full names of the messages in the bodies of events, by the events' types without the configured prefix. */
  bodyTypes: ReadonlyMap<string, string>;
  config: Pick<
    Config,
    | "allowPrivateNetwork"
    | "dnsServers"
    | "baseUrl"
    | "databasePoolSize"
    | "drainTimeoutMs"
    | "eventsPrefix"
    | "eventsRetryMs"
    | "eventsTimeoutMs"
    | "eventsConcurrency"
    | "grpcPackageAliases"
  >;
}
