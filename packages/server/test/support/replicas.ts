import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Bootstrap, loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { databaseEnv, dropDatabase } from "./database.ts";
import { type ServerProcess, startProcess } from "./processes.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** Several servers of one installation behind a proxy. */
export interface Replicas {
  /** The proxy's URL. */
  url: string;
  proxy: FaultProxy;
  bootstrap: Bootstrap;
  /** The owner's tokens. */
  platform: string;
  registry: string;
  /** Their settings; the data folder is the first one's. */
  env: Record<string, string>;
  /** Kills one with SIGKILL, and starts it again. Resolves when it listens. */
  replace(index: number): Promise<void>;
  servers: ServerProcess[];
  /** All servers, killed ones included. */
  all: ServerProcess[];
}

const SECRET_KEY = Buffer.alloc(32, 7).toString("base64");

/** Starts them concurrently on an empty database: the first start of an installation is part of what is tested. */
export async function startReplicas(
  t: TestContext,
  count: number,
  more: Record<string, string> = {},
): Promise<Replicas> {
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), "moorage-replica-")));
  const [first = ""] = folders;
  const database = await databaseEnv(first);
  t.after(async () => {
    await dropDatabase(first);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const proxy = await startFaultProxy([]);
  t.after(() => proxy.close());
  const url = `http://127.0.0.1:${proxy.port}`;
  const envOf = (folder: string): Record<string, string> => ({
    MOORAGE_DATA_DIR: folder,
    MOORAGE_BASE_URL: url,
    MOORAGE_SECRET_KEY: SECRET_KEY,
    ...database,
    ...more,
  });
  const start = (folder: string): Promise<ServerProcess> => startProcess(t, envOf(folder));
  const servers = await Promise.all(folders.map(start));
  const all = [...servers];
  proxy.targets = servers.map(({ port }) => port);
  const config = loadConfig(envOf(first));
  const tokenFor = async (audience: "platform" | "registry"): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 3_600_000 })).token;
  return {
    url,
    proxy,
    servers,
    all,
    bootstrap: readBootstrap(first),
    env: envOf(first),
    platform: await tokenFor("platform"),
    registry: await tokenFor("registry"),
    async replace(index) {
      await servers[index]?.stop("SIGKILL");
      const again = await start(folders[index] ?? "");
      servers[index] = again;
      all.push(again);
      proxy.targets = servers.map(({ port }) => port);
    },
  };
}
