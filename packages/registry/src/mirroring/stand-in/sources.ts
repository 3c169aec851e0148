import { createLru } from "@moorage/kernel/lib/lru";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { credentialPlace, type StandIn } from "../../upstreams/index.ts";
import { type CenterClient, openCenterClient } from "../center/client.ts";
import type { MirrorDeps } from "../context.ts";
import type { PullSource } from "../pull-source.ts";
import { type Catalog, openCatalog, openUpstream, type Upstream } from "../registry-client.ts";
import type { RetryPolicy } from "../request.ts";
import { openedPassword } from "../sources.ts";
import type { UpstreamStates } from "./states.ts";

/** The source of a repo that came from a registry which a group stands for. Throws an UpstreamError as others do. */
export type StandInSources = (standIn: StandIn, repo: string) => PullSource;

/** Opens repositories of registries that groups stand for: to compare tags, and as sources. */
export interface StandInClients {
  /** For manifests alone: blobs that take long do not hold it up. */
  checks(standIn: StandIn): Upstream;
  source: StandInSources;
  /** The catalog of the registry. */
  catalog(standIn: StandIn): Catalog;
  /** The API of the registry, if it is a Moorage. */
  center(standIn: StandIn): CenterClient;
}

interface ClientDeps {
  deps: MirrorDeps;
  states: UpstreamStates;
  /** For checks, and for everything else. */
  clients: { checks: StreamClient; content: StreamClient };
  retryPolicy: RetryPolicy;
}

// A cached client includes the current token of its registry.
const MAX_CACHED = 512;

export function createStandInClients({ deps, states, clients, retryPolicy }: ClientDeps): StandInClients {
  const cached = createLru<string, Upstream>(MAX_CACHED);
  const optionsOf = (standIn: StandIn, kind: keyof typeof clients) => ({
    client: clients[kind],
    clock: deps.clock,
    origin: standIn.origin,
    credentials: {
      username: standIn.username,
      password: openedPassword(deps, standIn.credential, credentialPlace(standIn.uid)),
    },
    retryPolicy,
    maxManifestBytes: deps.config.maxManifestBytes,
    guard: states.guard(standIn),
  });
  const open = (standIn: StandIn, kind: keyof typeof clients): Upstream => {
    const { uid, name, username, credential } = standIn;
    const key = JSON.stringify([kind, uid, name, username, credential]);
    const known = cached.get(key);
    if (known !== undefined) return known;
    const opened = openUpstream({ ...optionsOf(standIn, kind), name });
    cached.set(key, opened);
    return opened;
  };
  return {
    checks: (standIn) => open(standIn, "checks"),
    catalog: (standIn) => openCatalog(optionsOf(standIn, "content")),
    center: (standIn) => openCenterClient(optionsOf(standIn, "content")),
    source: (standIn, repo) => ({
      upstream: open(standIn, "content"),
      place: { repo, sync: `${standIn.uid} ${standIn.name}`, upstream: standIn.uid },
      settings: {
        origin: standIn.origin,
        name: standIn.name,
        username: standIn.username,
        follows: () => true,
        intervalMs: standIn.tagTtlMs,
        pullThrough: true,
        history: false,
        keepsMoved: false,
      },
    }),
  };
}
