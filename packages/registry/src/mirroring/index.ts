import { openStreamClient } from "@moorage/kernel/lib/stream-client";
import type { Wakes } from "@moorage/kernel/work";
import type { Upstream } from "../oci/index.ts";
import type { MirrorDeps } from "./context.ts";
import { createDownloads } from "./downloads.ts";
import { createPullThrough } from "./pull-through.ts";
import { createSources } from "./sources.ts";
import { type MirrorScheduler, startScheduler } from "./scheduler.ts";

export { mirroringArea } from "./area.ts";
export { mirrorMetrics } from "./metrics.ts";

/** Copies images from other registries. */
export interface Mirroring {
  /** Serves pulls of content that a repo lacks. */
  upstream: Upstream;
  /** Starts to copy repos when they are due, if the settings give this process workers. */
  start(wakes: Wakes): void;
  /** Interrupts all copying. Copied content stays, and another process continues. */
  close(): Promise<void>;
}

const CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
const HEAD_TIMEOUT_MS = 30_000;
const SILENCE_TIMEOUT_MS = 60_000;
// A scheduled run may wait longer for the source than a client's pull.
const FOR_RUNS = { retries: 3, maxWaitMs: 60_000 };
const FOR_PULLS = { retries: 1, maxWaitMs: 1_000 };

export function openMirroring(deps: MirrorDeps): Mirroring {
  const client = openStreamClient({
    allowPrivateNetwork: deps.config.allowPrivateNetwork,
    dnsServers: deps.config.dnsServers,
    connections: CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    silenceTimeoutMs: SILENCE_TIMEOUT_MS,
  });
  const closing = new AbortController();
  const downloads = createDownloads(deps);
  let scheduler: MirrorScheduler | undefined;
  return {
    upstream: createPullThrough({
      deps,
      downloads,
      signal: closing.signal,
      sources: createSources(deps, client, FOR_PULLS),
    }),
    start(wakes) {
      if (deps.config.mirrorWorkers > 0)
        scheduler = startScheduler({ deps, downloads, sources: createSources(deps, client, FOR_RUNS) }, wakes);
    },
    async close() {
      closing.abort();
      await scheduler?.stop();
      await client.close();
    },
  };
}
