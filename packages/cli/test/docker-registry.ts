// The registry of Debian's package docker-registry, as teams run it.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { temporaryFolder } from "./commands.ts";

/** The program of Debian's package docker-registry. */
export const PROGRAM = process.env["DOCKER_REGISTRY"] ?? "docker-registry";
/** Why tests of it are skipped; false where it is there. */
export const missingDockerRegistry = isThere()
  ? false
  : "no docker-registry; to run this: apt-get install docker-registry";

function isThere(): boolean {
  try {
    execFileSync(PROGRAM, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** One that runs on a folder of its own. */
export interface DockerRegistry {
  url: string;
  /** The folder that its configuration names. */
  data: string;
  /** Its configuration. */
  config: string;
  stop(): void;
}

/** Starts one. `fill`: writes into its folder before. `storage`: its driver, where that is no folder. */
export async function startDockerRegistry(
  t: TestContext,
  { fill = async () => {}, storage }: { fill?: (data: string) => Promise<void>; storage?: string } = {},
): Promise<DockerRegistry> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const [data, config] = [join(folder, "data"), join(folder, "config.yml")];
  mkdirSync(data);
  await fill(data);
  const settings = [
    "version: 0.1",
    "log: {level: error}",
    `storage: {${storage ?? `filesystem: {rootdirectory: ${data}}`}, delete: {enabled: true}}`,
    `http: {addr: "127.0.0.1:${port}"}`,
  ];
  writeFileSync(config, settings.join("\n"));
  // Its driver for S3 takes no certificates of the machine's own.
  const { AWS_CA_BUNDLE: _, ...env } = process.env;
  const child = spawn(PROGRAM, ["serve", config], { stdio: "ignore", env });
  const stop = (): void => void child.kill("SIGKILL");
  t.after(stop);
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/v2/`).catch(() => undefined))?.status === 200);
  return { url, data, config, stop };
}
