import type { Logger } from "pino";
import type { Config } from "../config/index.ts";
import { writeBootstrap } from "../installation/bootstrap-file.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createLog, type Snapshot } from "../observe/index.ts";
import type { RegistryDeps } from "../oci/index.ts";
import { type Api, openApi } from "./api.ts";
import { startBackground, type Wakers } from "./background.ts";
import { type Base, openBase } from "./base.ts";
import { handlersOf } from "./handlers.ts";
import { openPort } from "./port.ts";
import { preflight } from "./preflight.ts";
import { openRegistry } from "./registry.ts";
import { createShutdown, type Shutdown } from "./shutdown.ts";
import { openStorage, type Storage } from "./storage.ts";

export interface CompositionOptions {
  clock?: Clock;
  /** Absent: lines on standard output, at the level and in the format of the settings. */
  log?: Logger;
  /** What `/metrics` answers when several processes serve the port together. Absent: this process's own. */
  collectMetrics?: () => Promise<string>;
  /**
   * Whether another process has prepared the installation, holds its data folder and tells its URLs there (cluster.ts).
   */
  prepared?: boolean;
}

/** An installation that answers requests in this process, and the parts it is made of. */
export interface Composition extends AsyncDisposable, Base, Storage, Api {
  /** The settings in force, with every URL filled in. */
  config: Config;
  log: Logger;
  /** Where it listens. */
  address: string;
  registry: RegistryDeps;
  /** What this process counted. */
  snapshot(): Promise<Snapshot>;
  /** Starts what is done without being asked: jobs, mirrors, events of pulls, deliveries. Until then only requests are answered. */
  start(): Promise<void>;
  /**
   * Takes no more requests, lets those under way end, and closes everything. Called again, it waits for the same end.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Composes the server of an installation: the store, who may do what, the registry, and the handlers of one port. When it
 * resolves, requests are answered. When it rejects, what was open is closed; a ConfigError or StoreError says in one line
 * what the operator has to change.
 */
export async function compose(
  settings: Config,
  { clock = systemClock, log = createLog(settings), collectMetrics, prepared = false }: CompositionOptions = {},
): Promise<Composition> {
  const checked = preflight(settings);
  const shutdown = createShutdown();
  try {
    const wakers: Wakers = { written: () => {}, pulled: () => {} };
    const base = await openBase(settings, { clock, log, prepared }, shutdown);
    const { observation, installation } = base;
    const { router, port, config, draining } = await openPort(settings, checked, { clock, log, observation }, shutdown);
    if (!prepared) writeBootstrap(config.dataDir, { ...urlsOf(config), ...installation.bootstrap });
    const storage = await openStorage(
      config,
      base,
      { log, terms: checked.terms, tokens: () => api.access.tokens, written: () => wakers.written() },
      shutdown,
    );
    const api = openApi(config, base, storage, { clock, log }, shutdown);
    const { registry, mirroring } = openRegistry(
      config,
      base,
      storage,
      api,
      { clock, log, pulled: () => wakers.pulled() },
      shutdown,
    );
    const { mayReadMetrics } = checked;
    router.open(
      handlersOf(config, base, storage, api, registry, { clock, log, mayReadMetrics, collectMetrics, draining }),
    );
    return {
      ...base,
      ...storage,
      ...api,
      config,
      log,
      address: port.address,
      registry,
      snapshot: () => observation.snapshot(),
      start: () => startBackground(config, base, storage, api, mirroring, wakers, { clock, log }, shutdown),
      [Symbol.asyncDispose]: () => shutdown[Symbol.asyncDispose](),
    };
  } catch (error) {
    await closeAfter(shutdown, log);
    throw error;
  }
}

/** What kept the server from coming up is what is told, not what went wrong with the closing after it. */
async function closeAfter(shutdown: Shutdown, log: Logger): Promise<void> {
  await shutdown[Symbol.asyncDispose]().catch((error: unknown) => log.error({ err: error }, "closing failed"));
}

function urlsOf({ baseUrl, registryUrl }: Config): Pick<Config, "baseUrl" | "registryUrl"> {
  return { baseUrl, registryUrl };
}
