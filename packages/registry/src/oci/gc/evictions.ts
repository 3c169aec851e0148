import type { Logger } from "pino";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Database } from "@moorage/kernel/store";
import { startWorker, type Wakes } from "@moorage/kernel/work";
import { processOfOtherSchema } from "@moorage/platform/processes";
import { cacheUse, type CacheUse, fullCaches, groupPath, settleCacheSpace } from "../../registry/index.ts";
import { evict, RECENT_MS } from "./evict.ts";
import type { EvictionMetrics } from "./eviction-metrics.ts";

interface EvictionDeps {
  config: Pick<Config, "workPollMs">;
  transactor: Transactor;
  reader: Database;
  blobs: Pick<BlobStore, "remove">;
  wakes: Wakes;
  clock: Clock;
  metrics: EvictionMetrics;
  log: Logger;
}

// What did not make enough space is not repeated before something is no longer recent.
const REST_MS = RECENT_MS;
const LOG_EVERY_MS = 600_000;

/**
 * Makes space in groups that stand for other registries and are limited, whenever one of them is nearly full. `stop`
 * ends it between two transactions.
 */
export function startEvictions(deps: EvictionDeps): { stop(): Promise<void> } {
  const { config, transactor, reader, wakes, clock, metrics, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  // By group, on the monotonic clock: until when it rests, since when that did not help, when it was logged.
  const fruitless = new Map<string, { restUntilMs: number; sinceMs: number; loggedMs: number }>();

  const makeSpace = async (use: CacheUse): Promise<boolean> => {
    const times = { nowMs: clock.nowMs(), agreedMs: clock.agreedMs(), signal };
    const went = await evict({ ...deps, ...times }, use);
    metrics.evicted(went);
    if (went.manifests + went.tags > 0) log.info({ group: use.group, ...went }, "images made space for newer ones");
    await transactor.write(settleCacheSpace, systemCallNow(clock), { group: use.group });
    const left = await cacheUse(reader, use.group);
    return left === undefined || left.used <= use.target;
  };

  /** What was pulled a moment ago may go soon; only when it still does not help then, that is worth a line. */
  const noteFruitless = async ({ group, limit }: CacheUse): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const { sinceMs, loggedMs } = fruitless.get(group) ?? { sinceMs: nowMs, loggedMs: -Infinity };
    const isWorthALine = nowMs - sinceMs >= REST_MS && nowMs - loggedMs >= LOG_EVERY_MS;
    fruitless.set(group, { restUntilMs: nowMs + REST_MS, sinceMs, loggedMs: isWorthALine ? nowMs : loggedMs });
    if (!isWorthALine) return;
    const path = await groupPath(reader, group);
    log.warn(
      { group, limit },
      `${path} is full of what is used or protected: more of its registry is passed on, and not kept`,
    );
  };

  const worker = startWorker({
    async run() {
      const full = await fullCaches(reader);
      for (const [group, { restUntilMs }] of fruitless)
        if (clock.monotonicMs() - restUntilMs > LOG_EVERY_MS) fruitless.delete(group);
      if (full.length === 0 || (await processOfOtherSchema(reader, clock.agreedMs())) !== undefined) return;
      let againMs = Infinity;
      for (const use of full) {
        if (signal.aborted) return;
        let restMs = (fruitless.get(use.group)?.restUntilMs ?? 0) - clock.monotonicMs();
        if (restMs <= 0 && !(await makeSpace(use))) {
          restMs = REST_MS;
          await noteFruitless(use);
        } else if (restMs <= 0) fruitless.delete(use.group);
        if (restMs > 0) againMs = Math.min(againMs, restMs);
      }
      return againMs === Infinity ? undefined : againMs;
    },
    what: "making space for what is pulled from other registries",
    pollMs: config.workPollMs,
    stopping,
    log,
  });
  wakes.on("evictions", worker.wake);
  return {
    async stop() {
      stopping.abort();
      await worker.stop();
    },
  };
}
