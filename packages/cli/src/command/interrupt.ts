// Ctrl-C and SIGTERM: what is under way is aborted, and the command ends with 128 + the signal's number.
import { EXIT } from "./exit-codes.ts";
import { Failure } from "./failure.ts";

// For work that does not heed its signal.
const LEAVE_MS = 2000;

const EXITS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;
const stopping = new AbortController();
let listens = false;

/**
 * Aborted with a Failure at the first SIGINT or SIGTERM. The first call begins to listen for them: commands that never
 * ask end as any process does. At the second signal, or when nothing has ended the process two seconds after the first,
 * it ends in any case.
 */
export function interruption(): AbortSignal {
  if (!listens) {
    listens = true;
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => {
        const exit = EXITS[signal];
        if (stopping.signal.aborted) process.exit(exit);
        stopping.abort(new Failure("interrupted", { exit }));
        setTimeout(() => process.exit(exit), LEAVE_MS).unref();
      });
  }
  return stopping.signal;
}
