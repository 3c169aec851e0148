import type { StreamClient } from "./http-client.ts";
import { createLru } from "../lib/lru.ts";
import { SecretError } from "../lib/secrets.ts";
import { passwordPlace, type SyncSettings, syncSettings } from "../registry/index.ts";
import type { MirrorDeps } from "./context.ts";
import type { Patience } from "./request.ts";
import { openUpstream, type Upstream } from "./registry-client.ts";
import { UpstreamError } from "./errors.ts";

/** A repo with what says where it is copied from; `password` is sealed, or empty. */
export interface SourceRow {
  repo: string;
  sync: string;
  password: string;
}

export interface Source {
  settings: SyncSettings;
  upstream: Upstream;
}

// With each, the token that its registry gave lately is kept.
const MAX_KEPT = 256;

/**
 * Opens the sources of repos. The function answers undefined for a repo without one, and throws an UpstreamError when
 * its password cannot be read.
 */
export function createSources(
  { secrets, clock, config }: MirrorDeps,
  client: StreamClient,
  patience: Patience,
): (row: SourceRow) => Source | undefined {
  const kept = createLru<string, Source & { row: SourceRow }>(MAX_KEPT);
  return (row) => {
    const { repo, sync, password } = row;
    const known = kept.get(repo);
    if (known?.row.sync === sync && known.row.password === password) return known;
    const settings = syncSettings(sync === "" ? null : sync);
    if (settings === undefined) return undefined;
    const { origin, name, username } = settings;
    const credentials = {
      username,
      password: password === "" ? "" : opened(() => secrets.open(password, passwordPlace(repo))),
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
        patience,
        maxManifestBytes: config.maxManifestBytes,
      }),
    };
    kept.set(repo, source);
    return source;
  };
}

function opened(open: () => string): string {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new UpstreamError("refused", `the password of the source cannot be read: ${error.message}`, { cause: error });
  }
}
