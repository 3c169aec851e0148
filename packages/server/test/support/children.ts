import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The processes whose parent is that one, by their ids. */
export function childrenOf(parent: number): number[] {
  return pairs()
    .filter(([, of]) => of === parent)
    .map(([pid]) => pid);
}

/** Whether there is such a process. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** All processes with their parents. */
function pairs(): [pid: number, parent: number][] {
  if (!existsSync("/proc/self/stat"))
    return execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid): [number, number][] => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        // Source: proc_pid_stat(5): the name of the program, the second field, may have spaces in it.
        return [[Number(pid), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])]];
      } catch {
        // It has just ended.
        return [];
      }
    });
}
