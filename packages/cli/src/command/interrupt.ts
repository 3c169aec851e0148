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

/**
 * Does work whose signal SIGINT and SIGTERM abort, and which then ends by itself between two steps; the command ends
 * with 128 + the signal's number. `left`: the message, which says what state that leaves.
 */
export async function stoppable<T>(left: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController();
  const stop = (signal: keyof typeof EXITS): void => stopped.abort(new Failure(left, { exit: EXITS[signal] }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    return await work(stopped.signal);
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}
