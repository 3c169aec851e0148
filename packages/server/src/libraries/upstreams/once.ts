import { createHash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { systemCallNow } from "../../core/system-call.ts";
import { claimFetch, releaseFetch } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { UpstreamFailure } from "./errors.ts";

/** Something that is fetched once, whoever asks for it meanwhile. */
export interface Once<T> {
  /** What it is, the same in all processes. */
  id: string;
  /** What another process has got in the meantime; undefined when there is nothing yet. */
  found(): Promise<T | undefined>;
  work(): Promise<T>;
  /** How long the work may take. */
  limitMs: number;
}

const ASK_AGAIN_MS = 200;

/**
 * Runs work once in the whole installation: whoever asks for the same in this process shares the run that is under way,
 * and other processes wait until it is done. When a process dies meanwhile, another one begins after `limitMs`.
 */
export function createOnce({ transactor, clock, log }: Pick<UpstreamDeps, "transactor" | "clock" | "log">): {
  run<T>(once: Once<T>): Promise<T>;
} {
  const underWay = new Map<string, Promise<unknown>>();
  const holder = randomUUID();
  const alone = async <T>({ id, found, work, limitMs }: Once<T>): Promise<T> => {
    const key = createHash("sha256").update(id).digest("hex");
    const endMs = clock.monotonicMs() + limitMs;
    for (;;) {
      const there = await found();
      if (there !== undefined) return there;
      const claim = { id: key, holder, holdMs: limitMs };
      const { claimed } = await transactor.write(claimFetch, systemCallNow(clock), claim);
      if (claimed) {
        try {
          // It may have come between the look and the claim.
          return (await found()) ?? (await work());
        } finally {
          await transactor
            .write(releaseFetch, systemCallNow(clock), { id: key, holder })
            .catch((err: unknown) => log.error({ err }, "a fetch was not given back"));
        }
      }
      if (clock.monotonicMs() >= endMs) throw new UpstreamFailure("unreachable", "another process is fetching it");
      await wait(ASK_AGAIN_MS);
    }
  };
  return {
    run<T>(once: Once<T>): Promise<T> {
      const running = underWay.get(once.id);
      // The same id is the same kind of thing.
      if (running !== undefined) return running as Promise<T>;
      const started = alone(once).finally(() => underWay.delete(once.id));
      underWay.set(once.id, started);
      return started;
    },
  };
}
