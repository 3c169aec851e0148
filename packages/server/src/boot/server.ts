import type { Config } from "../config/index.ts";
import type { Snapshot } from "../observe/index.ts";
import { compose, type CompositionOptions } from "./compose.ts";

export interface Server {
  /** The URL of the platform API. */
  url: string;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** The metrics of this process. */
  snapshot(): Promise<Snapshot>;
  /**
   * Accepts no more requests, lets those under way complete, and closes everything. Further calls wait for the same
   * end.
   */
  close(): Promise<void>;
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
  // Programs that wait for this line must get it immediately.
  log.flush();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    log.info("closed");
  };
  return { url, config, snapshot: () => server.snapshot(), close: () => (closed ??= close()) };
}
