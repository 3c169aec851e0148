import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects all garbage of this thread and gives its memory back to the system: V8 keeps what it took for young objects
 * while a server's code was loaded, and no other collection changes that. The thread does nothing else meanwhile, after
 * a server's start for about a tenth of a second.
 */
export function releaseMemory(): void {
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
