import { openStreamClient } from "@moorage/kernel/lib/stream-client";
import { createAsking } from "./ask.ts";
import { createUpstreamClient } from "./client.ts";
import type { UpstreamDeps } from "./deps.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { createFiles, type Files } from "./files.ts";
import { createOnce } from "./once.ts";

/** What protocols of libraries get from upstreams. */
export interface Upstreams {
  documents: Documents;
  files: Files;
  /** Counts and logs that an upstream says something else of a version that is kept than when it came. */
  changed(about: { ecosystem: string; group: string; name: string; version: string }): void;
  /** Ends all requests to upstreams. What came stays. */
  close(): Promise<void>;
}

const CONNECTIONS = 32;
const CONNECT_TIMEOUT_MS = 10_000;

export function openUpstreams(deps: UpstreamDeps): Upstreams {
  const { config, secrets, metrics, log } = deps;
  const client = openStreamClient({
    allowPrivateNetwork: config.allowPrivateNetwork,
    dnsServers: config.dnsServers,
    connections: CONNECTIONS,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, config.upstreamTimeoutMs),
    headTimeoutMs: config.upstreamTimeoutMs,
    silenceTimeoutMs: config.upstreamTimeoutMs,
  });
  const closing = new AbortController();
  const request = createUpstreamClient(client, secrets);
  const asking = createAsking(deps, closing.signal);
  const once = createOnce(deps);
  return {
    documents: createDocuments(deps, request, asking, once, closing.signal),
    files: createFiles(deps, request, asking, once, closing.signal),
    changed({ ecosystem, ...about }) {
      metrics.changed(ecosystem);
      log.warn({ ecosystem, ...about }, "an upstream has changed a version: what came first goes on being served");
    },
    async close() {
      closing.abort();
      await client.close();
      await Promise.all([asking.settled(), once.settled()]);
    },
  };
}
