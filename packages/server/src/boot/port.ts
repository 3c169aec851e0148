import type { Logger } from "pino";
import { type Config, type ConfigError, settingError, withUrls } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Observation } from "@moorage/kernel/observe";
import { pullMetrics } from "@moorage/registry/oci";
import { createConnectionLimit } from "../transport/http/connections.ts";
import { PORT_LIMITS } from "../transport/http/limits.ts";
import { type ConnectionSource, type Listening, listen } from "../transport/http/listen.ts";
import { createPullTurns } from "../transport/http/pull-turns.ts";
import { createAdmission } from "../transport/http/rate-limits.ts";
import { type Router, createRouter } from "../transport/http/router.ts";
import type { Health } from "./health.ts";
import type { Preflight } from "./preflight.ts";
import type { Shutdown } from "./shutdown.ts";

/** The port. Its router answers every request with UNAVAILABLE until it gets its handlers. */
export interface OpenedPort {
  router: Router;
  port: Listening;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** Aborted when requests under way must end. */
  draining: AbortSignal;
}

export interface PortOptions {
  clock: Clock;
  log: Logger;
  observation: Observation;
  health: Health;
  /** Defaults to a port of its own. */
  source?: ConnectionSource | undefined;
}

/** Listens at the address of the settings. Throws a ConfigError that names the setting at fault. */
export async function openPort(
  settings: Config,
  { tls, addressOf, isProxy }: Preflight,
  { clock, log, observation, health, source }: PortOptions,
  shutdown: Shutdown,
): Promise<OpenedPort> {
  const { host, errorDomain } = settings;
  const admission = createAdmission({
    identity: settings.rateLimitIdentity,
    address: settings.rateLimitAddress,
    clock,
    limited: observation.limited,
  });
  const pullTurns = createPullTurns({ rejected: (handler) => observation.limited(handler, "queue") });
  observation.of(pullMetrics).watch(pullTurns.waiting);
  const router = createRouter({
    log,
    addressOf,
    errorDomain,
    admission,
    pullTurns,
    health,
    bodyTimeoutMs: settings.bodyTimeoutMs,
    observer: observation.requests,
  });
  shutdown.at("readiness", () => health.closing());
  const port = await listen({
    host,
    port: settings.port,
    tls,
    handler: router.handle,
    takeConnection: createConnectionLimit({
      maxConnections: PORT_LIMITS.maxConnections,
      maxPerNetwork: settings.connectionsAddress,
      isExempt: isProxy,
      rejected: () => observation.limited("connection", "address"),
    }),
    takeStream: router.takeStream,
    errorDomain,
    log,
    source,
  }).catch((error: unknown) => {
    throw cannotListen(settings, error);
  });
  const draining = new AbortController();
  shutdown.at("requests", async () => {
    draining.abort();
    const { cut } = await port.close(settings.drainTimeoutMs);
    return cut === 0 ? undefined : `${cut} connections were cut after ${settings.drainTimeoutMs / 1000} s of draining`;
  });
  return { router, port, config: withUrls(settings, port.port), draining: draining.signal };
}

/** The error of an address that cannot be listened on, with the setting at fault. */
export function cannotListen({ host, port }: Pick<Config, "host" | "port">, error: unknown): ConfigError {
  return settingError(settingAtFault(error), `cannot listen on ${host}:${port}: ${messageOf(error)}`);
}

function settingAtFault(error: unknown): "host" | "port" {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EADDRINUSE" || code === "EACCES" ? "port" : "host";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
