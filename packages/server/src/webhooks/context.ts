import type { Tokens } from "../auth/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Config } from "../config/index.ts";
import type { EventMetrics } from "../observe/index.ts";
import type { Database } from "../store/index.ts";
import type { Transactor } from "../core/transactor.ts";

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
