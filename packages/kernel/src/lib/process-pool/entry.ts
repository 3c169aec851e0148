// What a child process of a pool runs: it puts itself under watch, then loads the module that has the tasks.
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { programFile } from "../program-file.ts";
import type { WatchdogData } from "./watchdog.ts";

const [module = "", parentPid, maxRssMiB, niceness] = process.argv.slice(2);

process.on("disconnect", () => process.exit());
// What a terminal or a supervisor sends to the whole group of processes is the parent's affair: it may still wait for
// answers, and ends this process when it does not.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

// A thread, since this one may be in a call that never returns. It starts before the priority is lowered.
const workerData: WatchdogData = { parentPid: Number(parentPid), maxRssBytes: Number(maxRssMiB) * 2 ** 20 };
new Worker(programFile("watchdog", import.meta.url), {
  workerData,
  env: {},
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
}).unref();

try {
  setPriority(0, Number(niceness));
} catch {
  // A sandbox may forbid it: then tasks run at the priority of requests.
}
if (process.platform === "linux")
  try {
    // When the machine, or the container, has no memory left, this process is ended rather than the server.
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // A sandbox may forbid that, too.
  }

await import(module);
