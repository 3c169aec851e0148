import { Code, MoorageError } from "@moorage/kernel/errors";

/** Limits the number of concurrent calls. */
export interface CallLimits {
  /** Runs the work while the identity holds one of its places. Throws RESOURCE_EXHAUSTED when none is free. */
  run<T>(identity: string, work: () => Promise<T>): Promise<T>;
}

/** The limits of this process alone: each process and replica has its own. */
export function createCallLimits(most: { all: number; identity: number }): CallLimits {
  const running = new Map<string, number>();
  let all = 0;
  return {
    async run(identity, work) {
      const own = running.get(identity) ?? 0;
      if (all >= most.all || own >= most.identity)
        throw new MoorageError(Code.ResourceExhausted, "Resource exhausted: too many calls are under way", {
          area: "platform",
          retryAfterMs: 1000,
        });
      all += 1;
      running.set(identity, own + 1);
      try {
        return await work();
      } finally {
        all -= 1;
        const left = (running.get(identity) ?? 1) - 1;
        if (left === 0) running.delete(identity);
        else running.set(identity, left);
      }
    },
  };
}
