import type { Config } from "../config/index.ts";
import type { Snapshot } from "../observe/index.ts";
import { compose, type CompositionOptions } from "./compose.ts";

export interface Server {
  /** Where it listens. */
  url: string;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** What this process counted. */
  snapshot(): Promise<Snapshot>;
  /**
   * Takes no more requests, lets those under way end, and closes everything. Called again, it waits for the same end.
   */
  close(): Promise<void>;
}

export type ServerOptions = CompositionOptions;

/**
 * Serves an installation in this process. When it resolves, it answers. Throws a ConfigError or StoreError in one line
 * for the operator.
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
  // Whoever waits for this line does not wait for the next ones.
  log.flush();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    log.info("closed");
  };
  return { url, config, snapshot: () => server.snapshot(), close: () => (closed ??= close()) };
}
