// Commands that are killed on their way, as processes of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Front } from "../../server/test/support/upstream.ts";
import { environment, LAUNCHER } from "./commands.ts";
import type { Stage } from "./tasks-stage.ts";

/** Which server a command is to ask, and as whom. */
interface Asked {
  url: string;
  token: string;
}

/** Starts `moorage` in the stage's folder. What it prints is lost. */
export function started(
  { folder }: Pick<Stage, "folder">,
  args: readonly string[],
  { url, token }: Asked,
): ChildProcess {
  return spawn(process.execPath, [LAUNCHER, ...args], {
    cwd: folder,
    env: environment({ MOORAGE_URL: url, MOORAGE_TOKEN: token }),
    stdio: "ignore",
  });
}

/** Kills a command once so many further requests have passed through the front. Whether it was killed, or had ended. */
export async function killedAfter(front: Front, requests: number, child: ChildProcess): Promise<boolean> {
  const last = front.seen.length + requests;
  front.intercept = () => {
    if (front.seen.length >= last) child.kill("SIGKILL");
    return false;
  };
  const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  front.intercept = () => false;
  return signal === "SIGKILL";
}
