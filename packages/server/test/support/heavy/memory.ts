import { readFileSync } from "node:fs";

const EVERY_MS = 20;

/** The most memory that a process and those that it started have together, in MiB; NaN without /proc. */
export function watchMemory(pid: number): { begin(): void; peakMib(): number } {
  let peak = Number.NaN;
  const look = (): void => {
    const now = familyMib(pid);
    if (!(peak >= now)) peak = now;
  };
  setInterval(look, EVERY_MS).unref();
  return {
    begin() {
      peak = familyMib(pid);
    },
    peakMib() {
      look();
      return peak;
    },
  };
}

function familyMib(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
    return children.reduce((sum, child) => sum + familyMib(child), residentMib(pid));
  } catch {
    // There is no /proc, or the process has just ended.
    return Number.NaN;
  }
}

/** Without the files that are mapped into memory, which the system takes back when it needs to. */
function residentMib(pid: number): number {
  const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found === null ? 0 : Number(found[1]) / 1024;
}
