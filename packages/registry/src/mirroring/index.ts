import { openStreamClient, type StreamClient } from "@moorage/kernel/lib/stream-client";
import type { Wakes } from "@moorage/kernel/work";
import type { Centers, StandIns, Upstream } from "../oci/index.ts";
import { createCenters } from "./stand-in/centers.ts";
import type { MirrorDeps } from "./context.ts";
import { createCopyQueue } from "./copy-queue.ts";
import { createDownloads } from "./downloads.ts";
import { createFetchLimit } from "./fetch-limit.ts";
import { type FollowScheduler, startFollowing } from "./following/scheduler.ts";
import { createPullThrough } from "./pull-through.ts";
import { createSourceLookup } from "./source-lookup.ts";
import { createSources } from "./sources.ts";
import { createStandIns } from "./stand-in/answer.ts";
import { createStandInClients } from "./stand-in/sources.ts";
import { createUpstreamStates } from "./stand-in/states.ts";
import { type MirrorScheduler, startScheduler } from "./scheduler.ts";

export { type Authorization, createAuthorization, type Credentials } from "./authorization.ts";
export { asUpstreamError, retryAfterMs, UpstreamError } from "./errors.ts";
export { mirroringArea } from "./area.ts";
export { mirrorMetrics } from "./metrics.ts";

/** Copies images from other registries. */
export interface Mirroring {
  /** Serves pulls of content that a repo lacks. */
  upstream: Upstream;
  /** Answers below groups that stand for other registries. */
  standIns: StandIns;
  /** Asks Moorages that groups here follow. */
  centers: Centers;
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
  const open = (): StreamClient =>
    openStreamClient({
      allowPrivateNetwork: deps.config.allowPrivateNetwork,
      dnsServers: deps.config.dnsServers,
      connections: CONNECTIONS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headTimeoutMs: HEAD_TIMEOUT_MS,
      silenceTimeoutMs: SILENCE_TIMEOUT_MS,
    });
  const client = open();
  const checks = open();
  const closing = new AbortController();
  const { signal } = closing;
  const downloads = createDownloads(deps);
  const copies = createCopyQueue({ deps, downloads, signal });
  const limit = createFetchLimit();
  const states = createUpstreamStates(deps);
  const clients = createStandInClients({ deps, states, clients: { checks, content: client }, retryPolicy: FOR_PULLS });
  const sources = createSources(deps, client, FOR_PULLS);
  const lookup = createSourceLookup({ deps, sources, standIns: clients.source, limit });
  const upstream = createPullThrough({ deps, lookup, downloads, copies, signal });
  let scheduler: MirrorScheduler | undefined;
  let following: FollowScheduler | undefined;
  return {
    upstream,
    standIns: createStandIns({ deps, clients, copies, limit, signal, states, through: upstream }),
    centers: createCenters({ deps, client: checks, states }),
    start(wakes) {
      if (deps.config.mirrorWorkers === 0) return;
      scheduler = startScheduler({ deps, downloads, sources: createSources(deps, client, FOR_RUNS) }, wakes);
      const ofRuns = { deps, states, clients: { checks, content: client }, retryPolicy: FOR_RUNS };
      following = startFollowing({ deps, downloads, clients: createStandInClients(ofRuns) }, wakes);
    },
    async close() {
      closing.abort();
      await Promise.all([scheduler?.stop(), following?.stop()]);
      await Promise.all([client.close(), checks.close()]);
      await states.settled();
    },
  };
}
