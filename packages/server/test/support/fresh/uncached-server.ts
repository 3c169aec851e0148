import { pino } from "pino";
import { openApi } from "../../../src/boot/api.ts";
import { openBase } from "../../../src/boot/base.ts";
import { handlersOf } from "../../../src/boot/handlers.ts";
import { createHealth } from "../../../src/boot/health.ts";
import { preflight } from "../../../src/boot/preflight.ts";
import { openLibraries } from "../../../src/boot/libraries.ts";
import { openRegistry } from "../../../src/boot/registry.ts";
import { createShutdown, type Shutdown } from "../../../src/boot/shutdown.ts";
import { openStorage } from "../../../src/boot/storage.ts";
import { withUrls } from "../../../../kernel/src/config/index.ts";
import type { Access, MintRequest } from "../../../../platform/src/auth/index.ts";
import { noteRejections } from "../../../../kernel/src/audit/commands.ts";
import type { Transactor } from "../../../../kernel/src/core/transactor.ts";
import { loadConfig } from "../../../src/index.ts";
import { systemClock } from "../../../../kernel/src/lib/clock.ts";
import { openCall } from "../../../src/runtime/open-call.ts";
import { type Database, openStore } from "../../../../kernel/src/store/index.ts";
import { listen } from "../../../src/transport/http/listen.ts";
import { createRouter } from "../../../src/transport/http/router.ts";

/**
 * A server of the installation that knows nothing from before: what answers requests is composed anew,
 * on a new connection to the database, whenever a test says that something was written. So no answer, right or token
 * that it keeps can be older than the last write, however the server keeps them.
 */
export interface Uncached {
  port: number;
  /** A token of the installation. */
  mint(request: MintRequest): Promise<string>;
  /** Forgets everything. Called when no request is under way. */
  renew(): Promise<void>;
}

/** Opens it beside the servers of `env`, which have created the installation. */
export async function openUncached(env: NodeJS.ProcessEnv): Promise<Uncached> {
  const settings = loadConfig({ ...env, MOORAGE_PORT: "0", MOORAGE_EVENTS_PULLS: "0", MOORAGE_WORKERS: "1" });
  const config = withUrls(settings, settings.port);
  const log = pino({ level: "error" });
  const health = createHealth(log, config.dataDir);
  const checked = preflight(config);
  const shutdown = createShutdown();
  const base = await openBase(config, { clock: systemClock, log, health, prepared: true }, shutdown);
  let current: { access: Access; shutdown: Shutdown } | undefined;
  const storage = await openStorage(
    config,
    base,
    {
      health,
      clock: systemClock,
      log,
      terms: checked.terms,
      tokens: () => accessOf(current).tokens,
      issuers: () => accessOf(current).issuers,
      woken: () => {},
    },
    shutdown,
  );
  const router = createRouter({ log, addressOf: checked.addressOf, errorDomain: config.errorDomain });
  const port = await listen({
    host: "127.0.0.1",
    port: 0,
    handler: router.handle,
    takeStream: router.takeStream,
    errorDomain: config.errorDomain,
    log,
  });
  const draining = new AbortController();
  shutdown.at("requests", () => port.close(0));

  const renew = async (): Promise<void> => {
    const own = createShutdown();
    const store = await openStore(config);
    own.at("store", () => store.close());
    const fresh = { ...base, store };
    const parts = { ...storage, transactor: readingBy(store.reader, storage.transactor) };
    const api = openApi(config, fresh, parts, { clock: systemClock, log }, own);
    const options = { clock: systemClock, log, pulled: () => {} };
    const { registry } = openRegistry(config, fresh, parts, api, options, own);
    const libraries = openLibraries(config, fresh, parts, { clock: systemClock, log }, own);
    router.open(
      handlersOf(config, fresh, api, registry, libraries, {
        clock: systemClock,
        log,
        mayReadMetrics: checked.mayReadMetrics,
        draining: draining.signal,
        health,
      }),
    );
    const last = current;
    current = { access: api.access, shutdown: own };
    await last?.shutdown[Symbol.asyncDispose]();
  };
  await renew();
  return {
    port: port.port,
    mint: async (request) => (await accessOf(current).tokens.mint(request)).token,
    renew,
  };
}

function accessOf(current: { access: Access } | undefined): Access {
  if (current === undefined) throw new Error("not opened yet");
  return current.access;
}

/**
 * Reads by the reader. The audit log has the rejections of the servers under test; those of this one would only add
 * commits.
 */
function readingBy(reader: Database, transactor: Transactor): Transactor {
  return {
    read: async (data, work) => await work(openCall(data, reader)),
    write: async (command, data, input) =>
      command.name === noteRejections.name
        ? (undefined as Awaited<ReturnType<typeof command.run>>)
        : await transactor.write(command, data, input),
  };
}
