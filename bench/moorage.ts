import { type ChildProcess, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cores, cpuUsOf, freePort, SERVER_CORE, start, stop, until, untilAnswers } from "./processes.ts";
import { type Registry, send } from "./registries.ts";

/**
 * A running Moorage server, with the tokens and the organization of its first start. `authorization` is for the
 * registry.
 */
export interface Moorage extends Registry {
  organization: { uid: string; name: string };
  publicOrganization: { uid: string; name: string };
  baseUrl: string;
  platform: Registry;
  /** From the start of the process to its first response that it is ready. */
  readyMs: number;
}

/** The data folder and database of a server. */
export interface Place {
  launcher: string;
  dataDir: string;
  env: Record<string, string>;
}

export const DEFAULT_LOG_LEVEL = "info";
const QUIET_LOG_LEVEL = "warn";
const START_TIMEOUT_MS = 60_000;
const TTL = "1h";

/** `helpersCpuUs`: the processor time of other processes that work for the server. */
export interface Manner {
  logLevel?: string;
  helpersCpuUs?: () => number | undefined;
  cores?: Cores;
}

/** Starts Moorage, on the servers' core and without its access log: the other registries run without theirs. */
export async function startMoorage(
  { launcher, dataDir, env }: Place,
  { logLevel = QUIET_LOG_LEVEL, helpersCpuUs = () => 0, cores = SERVER_CORE }: Manner = {},
): Promise<Moorage> {
  const port = await freePort();
  const settings = {
    ...env,
    MOORAGE_HOST: "127.0.0.1",
    MOORAGE_PORT: String(port),
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: logLevel,
    // The issuer of the token exchange row is on this machine.
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    // Within an hour of its start a server collects garbage once, for minutes where there are a million repos: the
    // rows that would run beside it are not known before.
    MOORAGE_GC_INTERVAL: "0",
    // Rate limits are active as by default, but never reached.
    MOORAGE_RATE_LIMIT_IDENTITY: "10000000/s",
    MOORAGE_RATE_LIMIT_ADDRESS: "10000000/s",
  };
  const began = performance.now();
  const child = start(cores, process.execPath, [launcher, "serve"], { env: settings });
  try {
    await untilAnswers(`http://127.0.0.1:${port}/readyz`, child, START_TIMEOUT_MS);
    const readyMs = performance.now() - began;
    const bootstrap = await bootstrapOf(dataDir, port, child);
    const token = (audience: string): string => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [launcher, "token", "--audience", audience, "--ttl", TTL],
        {
          env: { ...process.env, ...settings },
          encoding: "utf8",
          timeout: START_TIMEOUT_MS,
        },
      );
      if (status !== 0) throw new Error(`moorage token failed: ${stderr}`);
      return `authorization: Bearer ${stdout.trim()}\r\n`;
    };
    const cpuUs = (): number | undefined => {
      const [own, helpers] = [cpuUsOf(child.pid), helpersCpuUs()];
      return own === undefined || helpers === undefined ? undefined : own + helpers;
    };
    const server = { name: "moorage", process: child, port, cpuUs };
    return {
      ...server,
      ...bootstrap,
      readyMs,
      authorization: token("registry"),
      platform: { ...server, authorization: token("platform") },
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

type Bootstrap = Pick<Moorage, "organization" | "publicOrganization" | "baseUrl">;

/** What the server wrote at this start: with workers, the first one may be ready before that. */
async function bootstrapOf(dataDir: string, port: number, child: ChildProcess): Promise<Bootstrap> {
  const read = (): Bootstrap => JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8")) as Bootstrap;
  await until(async () => new URL(read().baseUrl).port === String(port), child, START_TIMEOUT_MS);
  return read();
}

/** A request with JSON to the platform API, outside of the measurements. Throws for any status but 2xx. */
export async function api<T>(platform: Registry, method: string, path: string, message?: object): Promise<T> {
  const response = await send(
    platform,
    method,
    path,
    message && { type: "application/json", content: Buffer.from(JSON.stringify(message)) },
  );
  return (await response.json()) as T;
}

/** The uid of a repo of the organization by its name. */
export async function findRepo({ platform, organization }: Moorage, name: string): Promise<string> {
  const path = `/registry/v2/repos?uidp.descendants_of=${organization.uid}&name=${name}`;
  const {
    repos: [found],
  } = await api<{ repos: { uid: string }[] }>(platform, "GET", path);
  if (found === undefined) throw new Error(`there is no repo ${name}`);
  return found.uid;
}
