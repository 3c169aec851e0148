import { createHash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { claimFetch, releaseFetch } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { UpstreamFailure } from "./errors.ts";

/** Something that is fetched once, whoever asks for it meanwhile. */
interface Once<T> {
  /** What it is, the same in all processes. */
  id: string;
  /** What another process has got in the meantime; undefined when there is nothing yet. */
  found(): Promise<T | undefined>;
  work(): Promise<T>;
  /** How long the work may take. */
  limitMs: number;
}

/** Runs work once. */
export interface OnceRunner {
  /** Whoever asks for the same meanwhile shares the run that is under way. */
  run<T>(once: Once<T>): Promise<T>;
  /** Waits until all that was claimed is given back. */
  settled(): Promise<void>;
}

const ASK_AGAIN_MS = 200;

/**
 * Runs work once in the whole installation: other processes wait until it is done. When a process dies meanwhile,
 * another one begins after `limitMs`.
 */
export function createOnce({
  transactor,
  clock,
  log,
  isShared,
}: Pick<UpstreamDeps, "transactor" | "clock" | "log" | "isShared">): OnceRunner {
  const underWay = new Map<string, Promise<unknown>>();
  const releases = new Set<Promise<void>>();
  const holder = randomUUID();
  /** Nobody waits for it: what was fetched is found before anybody asks for the claim. */
  const release = (id: string): void => {
    const ended = transactor
      .write(releaseFetch, systemCallNow(clock), { id, holder })
      .catch((err: unknown) => log.error({ err }, "a fetch was not given back"))
      .finally(() => releases.delete(ended));
    releases.add(ended);
  };
  const claimed = async <T>({ id, found, work, limitMs }: Once<T>): Promise<T> => {
    const key = createHash("sha256").update(id).digest("hex");
    const endMs = clock.monotonicMs() + limitMs;
    for (;;) {
      const there = await found();
      if (there !== undefined) return there;
      const claim = { id: key, holder, holdMs: limitMs };
      if ((await transactor.write(claimFetch, systemCallNow(clock), claim)).claimed) {
        try {
          // It may have come between the look and the claim.
          return (await found()) ?? (await work());
        } finally {
          release(key);
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
      const alone = async (): Promise<T> => (await once.found()) ?? (await once.work());
      const started = (isShared ? claimed(once) : alone()).finally(() => underWay.delete(once.id));
      underWay.set(once.id, started);
      return started;
    },
    async settled() {
      await Promise.all(releases);
    },
  };
}
