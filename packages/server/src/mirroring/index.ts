import { openStreamClient } from "./http-client.ts";
import type { Upstream } from "../oci/index.ts";
import type { MirrorDeps } from "./context.ts";
import { createDownloads } from "./downloads.ts";
import { createPullThrough } from "./pull-through.ts";
import { createSources } from "./sources.ts";
import { startTurns } from "./scheduler.ts";

export { mirrorCommands } from "./commands.ts";

/** The copying of images from other registries. */
export interface Mirroring {
  /** For pulls of what is not here. */
  upstream: Upstream;
  /** Begins to copy repos when their time comes, where the settings give this process workers. */
  start(): void;
  /** Ends all copying at once; what was copied stays, and another process goes on with the rest. */
  close(): Promise<void>;
}

const CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
const HEAD_TIMEOUT_MS = 30_000;
const SILENCE_TIMEOUT_MS = 60_000;
// A turn has time, whoever pulls has not.
const FOR_TURNS = { retries: 3, maxWaitMs: 60_000 };
const FOR_PULLS = { retries: 1, maxWaitMs: 1_000 };

export function openMirroring(deps: MirrorDeps): Mirroring {
  const client = openStreamClient({
    allowPrivateNetwork: deps.config.allowPrivateNetwork,
    connections: CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    silenceTimeoutMs: SILENCE_TIMEOUT_MS,
  });
  const closing = new AbortController();
  const downloads = createDownloads(deps);
  let turns: { stop(): Promise<void> } | undefined;
  return {
    upstream: createPullThrough({
      deps,
      downloads,
      signal: closing.signal,
      sources: createSources(deps, client, FOR_PULLS),
    }),
    start() {
      if (deps.config.mirrorWorkers > 0)
        turns = startTurns({ deps, downloads, sources: createSources(deps, client, FOR_TURNS) });
    },
    async close() {
      closing.abort();
      await turns?.stop();
      await client.close();
    },
  };
}
