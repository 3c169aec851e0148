// Runs the command for the tests of this folder, in a temporary folder, without settings of the test's environment.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { inheritedEnv } from "../../server/test/support/environment.ts";
import type { Outcome } from "./command-host.ts";
import { commandIn } from "./hosts.ts";
import { LAUNCHER } from "./launcher.ts";

export { LAUNCHER } from "./launcher.ts";
export type { Outcome } from "./command-host.ts";

/** `docker-credential-moorage` in the source tree. */
export const HELPER = fileURLToPath(new URL("../bin/docker-credential-moorage.js", import.meta.url));

const START_TIMEOUT_MS = 60_000;
const COMMAND_TIMEOUT_MS = 180_000;

/** A running server: its URL, its process, and everything it has printed so far. */
export type Running = { readonly url: string; readonly child: ChildProcess; output(): string };

/** A temporary folder that is removed when the test ends, also when a server still writes to it. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** This process's environment without the variables for other servers and for the test runner, and with `extra`. */
export function environment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  // No load balancer has to notice that a server ends.
  return { ...inheritedEnv(), MOORAGE_DRAIN_DELAY: "0", ...extra };
}

/** Runs a program and waits for its exit. */
export async function run(
  program: string,
  args: readonly string[],
  {
    cwd,
    env = {},
    timeoutMs = COMMAND_TIMEOUT_MS,
  }: { cwd?: string; env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env: environment(env), timeout: timeoutMs }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/**
 * Runs `moorage` from the source tree to its end, beside others that this process runs: see hosts.ts for what differs
 * from a process of its own, which `program` is.
 */
export function moorage(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Outcome> {
  return commandIn(args, options.cwd ?? process.cwd(), environment(options.env ?? {}), COMMAND_TIMEOUT_MS);
}

/** Runs `moorage` from the source tree as a process of its own, and waits for its exit. */
export function program(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Outcome> {
  return run(process.execPath, [LAUNCHER, ...args], options);
}

/**
 * Runs `docker-credential-moorage` as clients do: one argument, the request on standard input. It has neither the
 * variables of a CI job nor the sign-ins of this machine, unless `env` names them.
 */
export function helper(action: string, input: string, env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const own = Object.fromEntries(
      Object.entries(environment({})).filter(([name]) => !/^(?:ACTIONS|GITHUB)_/.test(name)),
    );
    const settings = { env: { ...own, XDG_CONFIG_HOME: "/nowhere", ...env }, timeout: COMMAND_TIMEOUT_MS };
    const child = execFile(process.execPath, [HELPER, action], settings, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
    child.stdin?.on("error", () => {}).end(input);
  });
}

/** Starts `<program> <args>` and waits for the line with the word `listening`; kills it when the test ends. */
export async function startServing(
  t: TestContext,
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Running> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: environment(options.env ?? {}),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    output += `${line}\n`;
    const [url] = (line.includes("listening") && /https?:\/\/[^\s"]+/.exec(line)) || [];
    if (url !== undefined) resolve(url);
  });
  void exited.then(() => reject(new Error(`the server ended before it listened:\n${output}`)));
  const timer = setTimeout(() => reject(new Error(`the server did not listen in time:\n${output}`)), START_TIMEOUT_MS);
  return { url: await listening.finally(() => clearTimeout(timer)), child, output: () => output };
}

/** Sends SIGTERM to a server. Returns its exit code; null when a signal killed it. */
export async function terminate({ child }: Running): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = (await exited) as [number | null];
  return code;
}
