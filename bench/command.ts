// What starting `moorage` costs beside bare Node: shells ask for completions at each key.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "./median.ts";
import type { Figure } from "./report.ts";

const ROUNDS = 11;
const RUNS = 10;
const MOST_DIFFERENCE_MS = 30;
const TIMEOUT_MS = 120_000;

/**
 * The processor time of starting bare Node, of `moorage --version` and of completions that need no server, alternately,
 * and how much longer than Node the last two take. `scratch`: a folder for an empty program and for compiled code.
 */
export function commandFigures(launcher: string, scratch: string): Figure[] {
  const empty = join(scratch, "empty.mjs");
  writeFileSync(empty, "");
  const cases = [
    { title: "bare node", args: [empty] },
    { title: "moorage --version", args: [launcher, "--version"] },
    { title: "completion of a command", args: [launcher, "__complete", "zsh", "--", "rep"] },
    { title: "completion of a flag", args: [launcher, "__complete", "zsh", "--", "repos", "list", "--out"] },
  ].map((each) => ({ ...each, times: new Array<number>() }));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const { args, times } of cases) {
      const ms = processorMs(args, scratch);
      // The first round compiles the code and keeps it.
      if (round > 0) times.push(ms);
    }
  const [node = Number.NaN] = cases.map(({ times }) => median(times));
  return cases.flatMap(({ title, times }, index): Figure[] => {
    const ms = median(times);
    const own = { title: `processor time of ${title}`, value: ms, unit: "ms" };
    if (index === 0) return [own];
    return [
      own,
      { title: `${title}, above bare node`, value: ms - node, unit: "ms", most: MOST_DIFFERENCE_MS },
      { title: `${title}, times bare node`, value: ms / node, unit: "×" },
    ];
  });
}

/** Processor time of one run in milliseconds, the kernel's part included. bash counts that of its children. */
function processorMs(args: readonly string[], scratch: string): number {
  const script = `TIMEFORMAT='%U %S'; time for i in $(seq ${RUNS}); do "$@" >/dev/null; done`;
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", process.execPath, ...args], {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    env: { PATH: process.env["PATH"], HOME: scratch, XDG_CACHE_HOME: scratch },
  });
  const [, user, system] = /^(\d+\.\d+) (\d+\.\d+)$/m.exec(stderr) ?? [];
  if (status !== 0 || user === undefined || system === undefined)
    throw new Error(`${args.join(" ")} failed: ${stderr}`.slice(0, 2000));
  return ((Number(user) + Number(system)) * 1000) / RUNS;
}
