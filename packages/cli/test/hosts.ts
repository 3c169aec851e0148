// Processes that run the commands of a test file, one command at a time each. There are as many as commands ran side by
// side, so that none waits for another.
//
// Not as in a process of its own: what was loaded stays loaded, the process is older than the command (completion has
// so much time from its start), standard input is at its end, there is no launcher and no terminal, and a command has
// ended when its work has, whatever it leaves open. Tests of these start a process.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, Outcome } from "./command-host.ts";

const PROGRAM = fileURLToPath(new URL("./command-host.ts", import.meta.url));
const idle: ChildProcess[] = [];

/** Runs a command in a folder, with that environment and no other. One that takes longer is ended, and has code -1. */
export async function commandIn(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<Outcome> {
  const host = idle.pop() ?? started();
  host.ref();
  host.channel?.ref();
  const timer = setTimeout(() => host.kill("SIGKILL"), timeoutMs);
  const answered = new AbortController();
  const { signal } = answered;
  try {
    host.send({ args, cwd, env } as Order);
    const ended = once(host, "exit", { signal }).then(() => undefined);
    ended.catch(() => {});
    const answer = await Promise.race([once(host, "message", { signal }), ended]);
    if (answer === undefined) return { code: -1, stdout: "", stderr: `moorage ${args.join(" ")}: its process ended\n` };
    host.unref();
    host.channel?.unref();
    idle.push(host);
    return answer[0] as Outcome;
  } finally {
    clearTimeout(timer);
    answered.abort();
  }
}

function started(): ChildProcess {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  // Only what is wrong with the process itself gets to this process's standard error.
  return fork(PROGRAM, { env, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

// Nothing is left to do but to wait for them, so that their processor time is counted as the file's.
process.on("beforeExit", () => {
  for (const host of idle.splice(0)) {
    host.ref();
    host.disconnect();
  }
});
