import type { Logger } from "pino";
import { type Config, settingError, withUrls } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Observation } from "../observe/index.ts";
import { type Listening, listen } from "../transport/http/listen.ts";
import { createAdmission } from "../transport/http/rate-limits.ts";
import { type Router, createRouter } from "../transport/http/router.ts";
import type { Preflight } from "./preflight.ts";
import type { Shutdown } from "./shutdown.ts";

/** The port, where requests are told to come again until the front is opened. */
export interface OpenedPort {
  front: Router;
  port: Listening;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** Aborted when requests under way are to end. */
  draining: AbortSignal;
}

export interface PortOptions {
  clock: Clock;
  log: Logger;
  observation: Observation;
}

/** Listens where the settings say. Throws a ConfigError that names the setting at fault. */
export async function openPort(
  settings: Config,
  { tls, addressOf }: Preflight,
  { clock, log, observation }: PortOptions,
  shutdown: Shutdown,
): Promise<OpenedPort> {
  const { host, errorDomain } = settings;
  const admission = createAdmission({
    identity: settings.rateLimitIdentity,
    address: settings.rateLimitAddress,
    clock,
    limited: observation.limited,
  });
  const front = createRouter({ log, addressOf, errorDomain, admission, observer: observation.requests });
  shutdown.at("readiness", () => front.close());
  const port = await listen({
    host,
    port: settings.port,
    tls,
    handler: front.handle,
    takeStream: front.takeStream,
    errorDomain,
    log,
  }).catch((error: unknown) => {
    throw settingError(settingAtFault(error), `cannot listen on ${host}:${settings.port}: ${messageOf(error)}`);
  });
  const draining = new AbortController();
  shutdown.at("requests", async () => {
    draining.abort();
    await port.close(settings.drainTimeoutMs);
  });
  return { front, port, config: withUrls(settings, port.port), draining: draining.signal };
}

function settingAtFault(error: unknown): "host" | "port" {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EADDRINUSE" || code === "EACCES" ? "port" : "host";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
