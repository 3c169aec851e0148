import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { createLru } from "@moorage/kernel/lib/lru";
import { SecretError } from "@moorage/kernel/lib/secrets";
import { passwordPlace, type SyncSettings, syncSettings } from "../registry/index.ts";
import type { MirrorDeps } from "./context.ts";
import { openLocalUpstream } from "./local-upstream.ts";
import type { RetryPolicy } from "./request.ts";
import { openUpstream, type Upstream } from "./registry-client.ts";
import { UpstreamError } from "./errors.ts";

/** A repo with the configuration of its source; `password` is sealed, or empty when there is none. */
export interface SourceRow {
  repo: string;
  sync: string;
  password: string;
  /** The identity that set it. */
  actor: string;
}

/** The source of a repo: its settings, and a client for its registry. */
export interface Source {
  settings: SyncSettings;
  upstream: Upstream;
}

// A cached source includes the current token of its registry.
const MAX_CACHED = 256;

/**
 * Returns a function that opens the sources of repos. It returns undefined for a repo without a source, and throws an
 * UpstreamError when the password cannot be unsealed.
 */
export function createSources(
  deps: MirrorDeps,
  client: StreamClient,
  retryPolicy: RetryPolicy,
): (row: SourceRow) => Source | undefined {
  const { clock, config } = deps;
  const cached = createLru<string, Source & { row: SourceRow }>(MAX_CACHED);
  return (row) => {
    const { repo, sync, password, actor } = row;
    const known = cached.get(repo);
    if (known?.row.sync === sync && known.row.password === password && known.row.actor === actor) return known;
    const settings = syncSettings(sync === "" ? null : sync);
    if (settings === undefined) return undefined;
    const { origin, name, username } = settings;
    if (origin === "")
      return { settings, upstream: openLocalUpstream(deps, { repo, source: name, actor }, retryPolicy) };
    const credentials = {
      username,
      password: openedPassword(deps, password, passwordPlace(repo)),
    };
    const source = {
      row,
      settings,
      upstream: openUpstream({
        client,
        clock,
        origin,
        name,
        credentials,
        retryPolicy,
        maxManifestBytes: config.maxManifestBytes,
      }),
    };
    cached.set(repo, source);
    return source;
  };
}

/** The password, unsealed; empty for none. Throws an UpstreamError when it cannot be unsealed. */
export function openedPassword({ secrets }: Pick<MirrorDeps, "secrets">, sealed: string, place: string): string {
  if (sealed === "") return "";
  try {
    return secrets.open(sealed, place);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new UpstreamError("refused", `the password of the source cannot be read: ${error.message}`, { cause: error });
  }
}
