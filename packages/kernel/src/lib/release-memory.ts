import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How long a thread has to be idle. */
const IDLE_MS = 5_000;
/** Up to which part of that time it may do something: timers, and the probes of whoever watches the server. */
const IDLE_PART = 0.1;

/**
 * Releases memory once, as soon as this thread has been idle for `idleMs` (5,000 by default): after a server's start
 * the collection takes some tenths of a second, in which requests would wait. Does not keep the process from ending.
 */
export function releaseMemoryWhenIdle(idleMs = IDLE_MS): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > IDLE_PART) return;
    clearInterval(timer);
    releaseMemory();
  }, idleMs);
  timer.unref();
}

/**
 * Collects all garbage of this thread and gives its memory back to the system: V8 keeps what it took for young objects
 * while a server's code was loaded, and no other collection changes that. The thread does nothing else meanwhile.
 */
function releaseMemory(): void {
  collector()({ type: "major", flavor: "last-resort" });
}

/**
 * The collector's function, which a context has that is made while the flag is set. The flag is set for that alone:
 * with other flags than those it was made with, Node's cache of compiled code is not used.
 */
function collector(): NodeJS.GCFunction {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("gc") as NodeJS.GCFunction;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
