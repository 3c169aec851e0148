import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { environment } from "./commands.ts";

/** A server in this process. */
export interface ServerHere {
  url: string;
  /** Ends it, as SIGTERM does. The end of the test does, too. */
  close(): Promise<void>;
}

/**
 * Serves from `<folder>/data`, or from MOORAGE_DATA_DIR, as `moorage serve --port 0` does there. Paths in settings have
 * to be absolute. The servers of a process share a writer thread, and print no log.
 *
 * A server in a process of its own (`startServing`) takes some seconds of a processor to load and to compile what it
 * runs, which happens once here. Tests that kill a server, or are about how one starts, use that.
 */
export async function serveHere(
  t: TestContext,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerHere> {
  // A file whose tests start none does without loading it.
  const { startHere } = await import("../../server/test/support/start-here.ts");
  const dataDir = settings["MOORAGE_DATA_DIR"] ?? join(folder, "data");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const server = await startHere({ MOORAGE_PORT: "0", ...environment(settings), MOORAGE_DATA_DIR: dataDir });
  let closed: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    await (closed ??= server.close());
  };
  t.after(close);
  return { url: server.url, close };
}
