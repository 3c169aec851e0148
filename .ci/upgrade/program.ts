import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** A version of Moorage, run from its sources. */
export interface Program {
  /** Runs a command to its end, in `cwd`. */
  run(env: Record<string, string>, ...args: string[]): { status: number | null; output: string };
  /** Starts a server and waits until it is ready. */
  serve(env: Record<string, string>, port: number): Promise<Server>;
}

export interface Server {
  port: number;
  log(): string;
  /** Ends it by SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
}

const READY_MS = 120_000;
const COMMAND_MS = 120_000;

/** The program of a clone. `work` is a folder for its logs, in which it runs. */
export function programOf(clone: string, work: string): Program {
  const launcher = join(clone, "packages/cli/bin/moorage.js");
  const envOf = (env: Record<string, string>): NodeJS.ProcessEnv => ({ ...process.env, ...env });
  return {
    run(env, ...args) {
      const options = { cwd: work, env: envOf(env), encoding: "utf8", timeout: COMMAND_MS } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], options);
      return { status, output: `${stdout}${stderr}`.trim() };
    },
    async serve(env, port) {
      const file = join(work, `server-${port}.log`);
      const fd = openSync(file, "a");
      const child = spawn(process.execPath, [launcher, "serve"], {
        cwd: work,
        env: envOf({ ...env, MOORAGE_HOST: "127.0.0.1", MOORAGE_PORT: String(port) }),
        stdio: ["ignore", fd, fd],
      });
      closeSync(fd);
      const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
      const kill = (): void => void child.kill("SIGKILL");
      process.once("exit", kill);
      const log = (): string => readFileSync(file, "utf8");
      for (const endMs = performance.now() + READY_MS; !(await isReady(port)); await wait(100))
        if (performance.now() > endMs || child.exitCode !== null) {
          kill();
          throw new Error(`the server is not ready:\n${log().slice(-3_000)}`);
        }
      return {
        port,
        log,
        async stop() {
          child.kill("SIGTERM");
          const code = await exited;
          process.removeListener("exit", kill);
          return code;
        },
      };
    },
  };
}

/** Whether a server on this machine answers that it serves requests. */
export async function isReady(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    (answer) => answer.ok,
    () => false,
  );
}
