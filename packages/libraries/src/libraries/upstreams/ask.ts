import { systemCallNow } from "@moorage/kernel/core/system-call";
import { createLru } from "@moorage/kernel/lib/lru";
import { createSemaphores } from "@moorage/kernel/lib/semaphore";
import { noteUpstream } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { UpstreamFailure } from "./errors.ts";
import type { UpstreamSettings } from "./settings.ts";

/** What an upstream is asked for: what it says of something, or a file. */
type AskedKind = "document" | "file";

/** Asks upstreams, each for so much as it bears. */
export interface Asking {
  /**
   * Runs a request and what follows from its answer. Throws its failure, or one of its own while the upstream is left
   * in peace, or when too many requests wait for it.
   */
  ask<T>(settings: UpstreamSettings, kind: AskedKind, work: () => Promise<T>): Promise<T>;
  /** Waits for what is noted of upstreams. */
  settled(): Promise<void>;
}

/** Concurrent requests of a kind to one upstream, and how many more may wait. */
const CONCURRENCY = { document: 16, file: 12 };
const MAX_WAITING = 1_000;
/** After so many failures on end an upstream is left in peace for a while. */
const FAILURES = 3;
const PEACE_MS = 10_000;
/** How often a success is written down. */
const NOTE_EVERY_MS = 60_000;
const MAX_UPSTREAMS = 10_000;

interface Standing {
  failures: number;
  /** In the time of this process. */
  untilMs: number;
  waiting: number;
  error: string;
  notedMs: number | undefined;
  /** The last note; it never rejects. */
  written: Promise<void>;
}

/** `closing`: what fails because the server ends says nothing about an upstream. */
export function createAsking({ transactor, clock, metrics, log }: UpstreamDeps, closing: AbortSignal): Asking {
  const standings = createLru<string, Standing>(MAX_UPSTREAMS);
  const semaphores = { document: createSemaphores(CONCURRENCY.document), file: createSemaphores(CONCURRENCY.file) };
  const writes = new Set<Promise<void>>();
  const standingOf = ({ uid, url }: UpstreamSettings): Standing => {
    // Another URL is another registry.
    const key = `${uid} ${url}`;
    const found = standings.get(key) ?? {
      failures: 0,
      untilMs: 0,
      waiting: 0,
      error: "",
      notedMs: undefined,
      written: Promise.resolve(),
    };
    standings.set(key, found);
    return found;
  };
  /** A success now and then, and whenever something has changed. */
  const note = (standing: Standing, { uid, url }: UpstreamSettings, error: string): void => {
    const nowMs = clock.monotonicMs();
    const isOld = standing.notedMs === undefined || nowMs - standing.notedMs >= NOTE_EVERY_MS;
    if (error === standing.error && !isOld) return;
    Object.assign(standing, { error, notedMs: nowMs });
    const data = systemCallNow(clock);
    // One after the other, so that the last one stays.
    const write = standing.written
      .then(() => transactor.write(noteUpstream, data, { uid, url, error }))
      .catch((err: unknown) => log.error({ err, upstream: uid }, "the state of an upstream was not written"))
      .finally(() => writes.delete(write));
    writes.add(write);
    standing.written = write;
  };
  return {
    async ask(settings, kind, work) {
      const standing = standingOf(settings);
      const { uid, ecosystem } = settings;
      const requirePeaceOver = (): void => {
        if (standing.failures >= FAILURES && clock.monotonicMs() < standing.untilMs)
          throw new UpstreamFailure("unreachable", `${standing.error}; it is asked again in some seconds`);
      };
      requirePeaceOver();
      if (standing.waiting >= MAX_WAITING) throw new UpstreamFailure("unreachable", "too many requests wait for it");
      standing.waiting += 1;
      try {
        return await semaphores[kind](uid, async () => {
          requirePeaceOver();
          try {
            const answer = await work();
            standing.failures = 0;
            metrics.asked(ecosystem.key, kind, "ok");
            note(standing, settings, "");
            return answer;
          } catch (error) {
            if (!(error instanceof UpstreamFailure) || closing.aborted) throw error;
            metrics.asked(ecosystem.key, kind, error.kind);
            if (error.kind === "unreachable") {
              standing.failures += 1;
              standing.untilMs = clock.monotonicMs() + PEACE_MS;
            } else standing.failures = 0;
            log.warn(
              { upstream: uid, ecosystem: ecosystem.key, kind: error.kind, reason: error.message },
              "an upstream failed",
            );
            note(standing, settings, error.message);
            throw error;
          }
        });
      } finally {
        standing.waiting -= 1;
      }
    },
    async settled() {
      await Promise.all(writes);
    },
  };
}
