import { type ChildProcess, spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram } from "./peers.ts";
import { cpuUsOf, freePort, SERVER_CORE, start, stop, untilAnswers } from "./processes.ts";
import { type Registry, send } from "./registries.ts";

// Other registries of npm packages and Python projects, at quiet log levels and without access control.

const START_TIMEOUT_MS = 60_000;
const PROGRAM_TIMEOUT_MS = 60_000;
const USER = "root";
const PASSWORD = "bench-password";
// Its key of tokens is slow to make on purpose: half a minute and more on a busy machine, once for each start.
const QUICK_START = ["--argon2-memory-cost", "8", "--argon2-parallelism", "1", "--argon2-time-cost", "1"];
// What they say about their start, and devpi about each request.
const QUIET = ["-c", 'exec "$@" >/dev/null 2>&1', "sh"];

/** A registry, the path of what it serves, without a slash at the end, and its version. */
export interface LibraryPeer extends Registry {
  base: string;
  version: string;
}

/**
 * `upstream`: the URL of a registry that is asked for what is not there. `authenticated`: it serves those alone
 * who have the peer's credentials.
 */
export interface LibraryPeerOptions {
  name?: string;
  upstream?: string;
  authenticated?: boolean;
}

/** Starts verdaccio, the npm registry. Undefined when .ci/tools.sh has not installed it. */
export async function startVerdaccio(
  folder: string,
  { name = "verdaccio", upstream, authenticated = false }: LibraryPeerOptions = {},
): Promise<LibraryPeer | undefined> {
  const found = findProgram("verdaccio");
  if (found === undefined) return undefined;
  const program = realpathSync(found);
  const port = await freePort();
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const config = join(place, "config.yaml");
  const who = authenticated ? "$authenticated" : "$all";
  const rights = { access: who, publish: who, unpublish: who };
  const settings = {
    storage: join(place, "storage"),
    auth: { htpasswd: { file: join(place, "htpasswd"), max_users: 10 } },
    uplinks: upstream === undefined ? {} : { upstream: { url: upstream } },
    packages: { "**": { ...rights, ...(upstream !== undefined && { proxy: "upstream" }) } },
    max_body_size: "100mb",
    web: { enable: false },
    server: { keepAliveTimeout: 60 },
    log: { type: "stdout", format: "json", level: "fatal" },
  };
  writeFileSync(config, JSON.stringify(settings));
  const version = outputOf(process.execPath, [program, "--version"]).replace(/^v/, "");
  const args = [process.execPath, program, "-c", config, "-l", `127.0.0.1:${port}`];
  const child = start(SERVER_CORE, "sh", [...QUIET, ...args]);
  const peer = await started(child, { name, port, base: "", version }, "/-/ping");
  if (!authenticated) return peer;
  const user = await send(peer, "PUT", `/-/user/org.couchdb.user:${USER}`, json({ name: USER, password: PASSWORD }));
  const { token } = (await user.json()) as { token: string };
  return { ...peer, authorization: `authorization: Bearer ${token}\r\n` };
}

/**
 * Starts devpi-server, the index of Python projects, with one index, which has what is uploaded to it, or mirrors the
 * upstream. Undefined when .ci/tools.sh has not installed it.
 */
export async function startDevpi(
  folder: string,
  { name = "devpi", upstream, authenticated = false }: LibraryPeerOptions = {},
): Promise<LibraryPeer | undefined> {
  const found = findProgram("devpi-server");
  if (found === undefined) return undefined;
  const program = realpathSync(found);
  const port = await freePort();
  const place = join(folder, name);
  const init = ["--serverdir", place, "--no-root-pypi", "--root-passwd", PASSWORD];
  outputOf(join(dirname(program), "devpi-init"), init);
  const version = outputOf(program, ["--version"]);
  const args = ["--serverdir", place, "--host", "127.0.0.1", "--port", String(port), ...QUICK_START];
  const child = start(SERVER_CORE, "sh", [...QUIET, program, ...args]);
  const peer = await started(child, { name, port, base: "/root/bench", version }, "/+api");
  const credentials = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
  const asRoot = { ...peer, authorization: `authorization: Basic ${credentials}\r\n` };
  const index =
    upstream === undefined
      ? { type: "stage", bases: [], volatile: false, ...(!authenticated && { acl_upload: [":ANONYMOUS:"] }) }
      : { type: "mirror", mirror_url: upstream, mirror_no_project_list: true };
  const made = await send(asRoot, "PUT", peer.base, json(index));
  await made.body?.cancel();
  return authenticated ? asRoot : peer;
}

function json(value: object): { type: string; content: Buffer<ArrayBuffer> } {
  return { type: "application/json", content: Buffer.from(JSON.stringify(value)) };
}

function outputOf(program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: PROGRAM_TIMEOUT_MS });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  return stdout.trim();
}

async function started(
  child: ChildProcess,
  { port, ...named }: Pick<LibraryPeer, "name" | "port" | "base" | "version">,
  path: string,
): Promise<LibraryPeer> {
  try {
    await untilAnswers(`http://127.0.0.1:${port}${path}`, child, START_TIMEOUT_MS);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { ...named, port, process: child, authorization: "", cpuUs: () => cpuUsOf(child.pid) };
}
