import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuUsOf, freePort, SERVER_CORE, start, stop, untilAnswers } from "./processes.ts";
import type { Registry } from "./registries.ts";

// Other registries, each at its quiet log level, without an access log and without access control.

const START_TIMEOUT_MS = 60_000;
const TOOLS = fileURLToPath(new URL("../build/tools/", import.meta.url));

/** A program on PATH or among the tools built by .ci/tools.sh; the files of zot are named after the platform. */
export function findProgram(name: string): string | undefined {
  const platformed = new RegExp(`^${name}(-(linux|darwin)-[a-z0-9]+(-minimal)?|-minimal)?$`);
  for (const folder of [TOOLS, join(TOOLS, "bin"), ...(process.env["PATH"] ?? "").split(delimiter)]) {
    for (const file of entries(folder).filter((entry) => platformed.test(entry))) {
      try {
        accessSync(join(folder, file), constants.X_OK);
        return join(folder, file);
      } catch {
        // This file cannot be executed; another one may be.
      }
    }
  }
  return undefined;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export interface Peer {
  registry: Registry;
  version: string;
}

/** Starts Debian's docker-registry. Undefined when it is not installed. */
export async function startDockerRegistry(folder: string): Promise<Peer | undefined> {
  const program = findProgram("docker-registry");
  if (program === undefined) return undefined;
  const port = await freePort();
  const config = join(folder, "docker-registry.yml");
  writeFileSync(
    config,
    [
      "version: 0.1",
      "log: {level: error, accesslog: {disabled: true}}",
      `http: {addr: "127.0.0.1:${port}"}`,
      `storage: {filesystem: {rootdirectory: ${JSON.stringify(join(folder, "docker-registry"))}}, cache: {blobdescriptor: inmemory}}`,
      "",
    ].join("\n"),
  );
  const version =
    spawnSync(program, ["--version"], { encoding: "utf8", timeout: 10_000 }).stdout.trim().split(" ").at(-1) ?? "";
  return { registry: await startRegistry("docker-registry", port, program, ["serve", config]), version };
}

/** Starts zot. Undefined when it was not built. */
export async function startZot(folder: string): Promise<Peer | undefined> {
  const program = findProgram("zot");
  if (program === undefined) return undefined;
  const port = await freePort();
  const config = join(folder, "zot.json");
  writeFileSync(
    config,
    JSON.stringify({
      distSpecVersion: "1.1.1",
      storage: { rootDirectory: join(folder, "zot"), gc: false },
      http: { address: "127.0.0.1", port: String(port) },
      log: { level: "error" },
    }),
  );
  const { stdout, stderr } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const version = /v?\d+\.\d+\.\d+[^\s",]*/.exec(stdout + stderr)?.[0] ?? "";
  return { registry: await startRegistry("zot", port, program, ["serve", config]), version };
}

async function startRegistry(name: string, port: number, program: string, args: string[]): Promise<Registry> {
  // Both log requests to standard error, even at their quiet levels.
  const child = start(SERVER_CORE, "sh", ["-c", 'exec "$@" 2>/dev/null', "sh", program, ...args]);
  try {
    await untilAnswers(`http://127.0.0.1:${port}/v2/`, child, START_TIMEOUT_MS);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { name, process: child, port, authorization: "", cpuUs: () => cpuUsOf(child.pid) };
}
