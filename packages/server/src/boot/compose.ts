import type { Config } from "@moorage/kernel/config";
import { type Clock, clockOf, systemClock } from "@moorage/kernel/lib/clock";
import { createLog, type Snapshot } from "@moorage/kernel/observe";
import { createWakes, type Wakes } from "@moorage/kernel/work";
import { loadEcosystems } from "@moorage/libraries/libraries";
import { startPresence } from "@moorage/platform/processes";
import type { RegistryDeps } from "@moorage/registry/oci";
import type { Logger } from "pino";
import { writeBootstrap } from "../installation/bootstrap-file.ts";
import { keepFeeds, readFeedsFile } from "../installation/feeds-file.ts";
import { openAgreedTime } from "../jobs/agreed-time.ts";
import type { ConnectionSource } from "../transport/http/listen.ts";
import { type Api, openApi } from "./api.ts";
import { startBackground, type Wakers } from "./background.ts";
import { type Base, openBase } from "./base.ts";
import { createHealth } from "./health.ts";
import { handlersOf } from "./handlers.ts";
import { openLibraries } from "./libraries.ts";
import { openPort } from "./port.ts";
import { preflight } from "./preflight.ts";
import { openRegistry } from "./registry.ts";
import { createShutdown, type Shutdown } from "./shutdown.ts";
import { openStorage, type Storage } from "./storage.ts";

export interface CompositionOptions {
  /** A clock that a test moves: all times follow it. Defaults to the system's clocks and the agreed time. */
  clock?: Pick<Clock, "nowMs">;
  /** Defaults to lines on standard output, at the level and in the format of the settings. */
  log?: Logger;
  /**
   * The answer of `/metrics` when several processes serve the port together. Defaults to this process's own metrics.
   */
  collectMetrics?: () => Promise<string>;
  /**
   * Whether another process has prepared the installation, holds its data folder and has written its URLs there
   * (cluster.ts).
   */
  prepared?: boolean;
  /**
   * The modules of ecosystems of libraries that are served beside those of every server, by URL, each with an export
   * `ecosystem`. Defaults to none.
   */
  ecosystems?: readonly string[];
  /** Connections that another process accepts. Defaults to a port of its own. */
  source?: ConnectionSource;
}

/** An installation that answers requests in this process, and the parts it is made of. */
export interface Composition extends AsyncDisposable, Base, Storage, Api {
  /** The settings in force, with every URL filled in. */
  config: Config;
  log: Logger;
  /** The address it listens on. */
  address: string;
  registry: RegistryDeps;
  /** Wakes the background work, once that is started. */
  wakes: Wakes;
  /** The metrics of this process. */
  snapshot(): Promise<Snapshot>;
  /** Starts the background work: jobs, mirrors, events of pulls, deliveries. Until then only requests are answered. */
  start(): Promise<void>;
  /** From now on it says that it is not ready. Requests are still answered. */
  leave(): void;
  /** What was cut off because it took too long to close, in a few words each. */
  cut(): readonly string[];
  /**
   * Accepts no more requests, lets those under way complete, and closes everything. Further calls wait for the same
   * end.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Composes the server of an installation: the store, authentication and authorization, the registry, and the handlers
 * of one port. Requests are answered once it resolves. When it rejects, everything that was opened is closed; a
 * ConfigError or StoreError says in one line what the operator has to change.
 */
export async function compose(
  settings: Config,
  {
    clock: given,
    log = createLog(settings),
    collectMetrics,
    prepared = false,
    ecosystems = [],
    source,
  }: CompositionOptions = {},
): Promise<Composition> {
  const checked = preflight(settings);
  const feeds = await readFeedsFile(settings);
  const shutdown = createShutdown({ drainTimeoutMs: settings.drainTimeoutMs, log });
  const health = createHealth(log, settings.dataDir);
  const ownClock = given === undefined ? systemClock : clockOf(() => given.nowMs());
  try {
    await loadEcosystems(ecosystems);
    const wakers: Wakers = { wakes: createWakes(), pulled: () => {} };
    const base = await openBase(settings, { clock: ownClock, log, health, prepared }, shutdown);
    const { observation, installation } = base;
    const { router, port, config, draining } = await openPort(
      settings,
      checked,
      { clock: ownClock, log, observation, health, source },
      shutdown,
    );
    if (!prepared) writeBootstrap(config.dataDir, { ...urlsOf(config), ...installation.bootstrap });
    const storage = await openStorage(
      config,
      base,
      {
        health,
        clock: ownClock,
        log,
        terms: checked.terms,
        ecosystems,
        tokens: () => api.access.tokens,
        issuers: () => api.access.issuers,
        woken: wakers.wakes.wake,
      },
      shutdown,
    );
    await keepFeeds(storage.transactor, feeds, ownClock.nowMs());
    const clock = given === undefined ? await openClock(base, storage, log, shutdown) : ownClock;
    const presence = await startPresence({
      store: base.store,
      writer: storage.transactor,
      clock,
      log,
      version: observation.version,
      seen: health.outdated,
      versions: observation.schema.versions,
    });
    shutdown.at("pull publisher", () => presence.close());
    const api = openApi(config, base, storage, { clock, log }, shutdown);
    const { registry, mirroring } = openRegistry(
      config,
      base,
      storage,
      api,
      { clock, log, pulled: () => wakers.pulled() },
      shutdown,
    );
    const libraries = openLibraries(config, base, storage, { clock, log }, shutdown);
    const { mayReadMetrics } = checked;
    router.open(
      handlersOf(config, base, api, registry, libraries, {
        clock,
        log,
        mayReadMetrics,
        collectMetrics,
        draining,
        health,
      }),
    );
    return {
      ...base,
      ...storage,
      ...api,
      config,
      log,
      address: port.address,
      registry,
      wakes: wakers.wakes,
      snapshot: () => observation.snapshot(),
      start: () =>
        startBackground(
          config,
          base,
          storage,
          api,
          mirroring,
          wakers,
          { clock, log, presence, smtp: checked.smtp },
          shutdown,
        ),
      leave: () => health.closing(),
      cut: () => shutdown.cut(),
      [Symbol.asyncDispose]: () => shutdown[Symbol.asyncDispose](),
    };
  } catch (error) {
    await closeAfter(shutdown, log);
    throw error;
  }
}

/** The system's clocks, with the agreed time of the installation. */
async function openClock({ store }: Base, { transactor }: Storage, log: Logger, shutdown: Shutdown): Promise<Clock> {
  const agreed = await openAgreedTime({ store, transactor, clock: systemClock, log });
  shutdown.at("pull publisher", () => agreed.close());
  return { ...systemClock, agreedMs: agreed.nowMs };
}

/**
 * Closes everything after a failed start. Errors in closing are only logged, so that the caller gets the error of the
 * start.
 */
async function closeAfter(shutdown: Shutdown, log: Logger): Promise<void> {
  await shutdown[Symbol.asyncDispose]().catch((error: unknown) => log.error({ err: error }, "closing failed"));
}

function urlsOf({ baseUrl, registryUrl }: Config): Pick<Config, "baseUrl" | "registryUrl"> {
  return { baseUrl, registryUrl };
}
