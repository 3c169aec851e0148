import type { Config } from "@moorage/kernel/config";
import type { Snapshot } from "@moorage/kernel/observe";
import { warnOfAddresses } from "./address-warning.ts";
import { compose, type CompositionOptions } from "./compose.ts";
import { type Closed, type CloseOptions, logClosed } from "./end.ts";

export interface Server {
  /** The URL of the platform API. */
  url: string;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** The metrics of this process. */
  snapshot(): Promise<Snapshot>;
  /**
   * Says that it is not ready, accepts no more requests, lets those under way complete, and closes everything: within
   * the delay, the time for draining and SHUTDOWN_LIMIT_MS. It never rejects. Further calls wait for the same end.
   */
  close(options?: CloseOptions): Promise<Closed>;
}

export type ServerOptions = CompositionOptions;

/**
 * Serves an installation in this process. Requests are answered once it resolves. Throws a ConfigError or StoreError
 * that says in one line what the operator has to change.
 */
export async function startServer(settings: Config, options: ServerOptions = {}): Promise<Server> {
  const server = await compose(settings, options);
  const { config, log, address } = server;
  try {
    await server.start();
  } catch (error) {
    await server[Symbol.asyncDispose]().catch((also: unknown) => log.error({ err: also }, "closing failed"));
    throw error;
  }
  const { baseUrl: url, registryUrl, port } = config;
  log.info({ url, registryUrl, address, port }, "listening");
  if (options.prepared !== true) warnOfAddresses(config, log);
  // Programs that wait for this line must get it immediately.
  log.flush();
  const delay = Promise.withResolvers<void>();
  const close = async (): Promise<Closed> => {
    server.leave();
    await delay.promise;
    const failed = await server[Symbol.asyncDispose]().then(
      () => [],
      (error: unknown) => {
        log.error({ err: error }, "closing failed");
        return [error instanceof Error ? error.message : String(error)];
      },
    );
    const cut = [...server.cut(), ...failed];
    logClosed(log, cut, "closed");
    return { cut };
  };
  let closed: Promise<Closed> | undefined;
  return {
    url,
    config,
    snapshot: () => server.snapshot(),
    close({ delayMs = 0 } = {}) {
      if (delayMs === 0) delay.resolve();
      else if (closed === undefined) setTimeout(delay.resolve, delayMs);
      return (closed ??= close());
    },
  };
}
