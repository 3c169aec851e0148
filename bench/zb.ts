import { spawnSync } from "node:child_process";
import { findProgram } from "./peers.ts";
import { LOAD_CORE, pinned } from "./processes.ts";
import type { Registry } from "./registries.ts";
import { say } from "./say.ts";

const TIMEOUT_MS = 60_000;

/** zot's own benchmark against each registry, as it prints it. Nothing where it is not there or not asked for. */
export async function runZb(registries: Registry[], only: string, quick: boolean): Promise<{ name: string; text: string }[]> {
  if (!"zb".includes(only.toLowerCase())) return [];
  const program = findProgram("zb");
  if (program === undefined) {
    say("no zb in build/tools or on PATH: its run is left out (with Go on the machine, .ci/tools.sh builds it)");
    return [];
  }
  return registries.map(({ name, port }) => {
    say(`zb against ${name}`);
    const args = ["-c", "2", "-n", quick ? "2" : "8", `http://127.0.0.1:${port}`];
    const [command, all] = pinned ? ["taskset", ["-c", String(LOAD_CORE), program, ...args]] : [program, args];
    const { status, stdout, stderr } = spawnSync(command, all, { encoding: "utf8", timeout: TIMEOUT_MS });
    return { name, text: status === 0 ? stdout : `zb failed: ${stderr}${stdout}`.slice(-2_000) };
  });
}
