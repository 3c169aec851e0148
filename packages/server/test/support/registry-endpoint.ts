import { pathToFileURL } from "node:url";
import type { Caller } from "../../../kernel/src/core/call.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { RegistryDeps } from "../../../registry/src/oci/index.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { openComposition } from "./composition.ts";
import { insertIdentity, insertRole } from "./identities.ts";

/** A server whose registry the test asks. Several may serve one folder, each at a URL of its own. */
export interface Endpoint {
  url: string;
  deps: RegistryDeps;
  db: Database;
  /** The uids of two organizations. */
  acme: string;
  elsewhere: string;
  /** A new identity that holds the capabilities on the group; its uid. All of them by default. */
  addIdentity(group: string, capabilities?: number[]): Promise<string>;
  /**
   * The Authorization header of the caller: a token for the registry, limited to `repositories` when they are given.
   * All servers of the folder accept it. `audience`: another than the registry's.
   */
  bearer(caller: Pick<Partial<Caller>, "identity" | "repositories">, audience?: string): Promise<string>;
  /** Moves the clock, in milliseconds. */
  advance(byMs: number): void;
  close(): Promise<void>;
}

const REGISTRY = "registry.test";
/** The same for all servers of a folder: they are in the challenges and the tokens. */
const URLS = { MOORAGE_BASE_URL: "http://platform.test", MOORAGE_REGISTRY_URL: `http://${REGISTRY}` };

/** Serves a folder. `prepared`: whether a server serves it already, in this process or in another one. */
export async function openEndpoint(folder: string, { prepared = false } = {}): Promise<Endpoint> {
  let shiftMs = 0;
  const clock = { nowMs: () => Date.now() + shiftMs };
  const composition = await openComposition(folder, URLS, { clock, prepared });
  const { access, config, db, installation, registry: deps } = composition;
  return {
    url: `http://127.0.0.1:${config.port}`,
    deps,
    db,
    acme: installation.bootstrap.organization.uid,
    elsewhere: installation.bootstrap.publicOrganization.uid,
    async addIdentity(group, capabilities) {
      const name = newUid("");
      const role = capabilities === undefined ? installation.ownerRole : await insertRole(db, name, capabilities);
      return insertIdentity(db, name, [[group, role]]);
    },
    async bearer({ identity = "", repositories }, audience = REGISTRY) {
      const { token } = await access.tokens.mint({
        type: repositories === undefined ? "access" : "registry",
        identity,
        audiences: [audience],
        ttlMs: 3_600_000,
        nowMs: clock.nowMs(),
        ...(repositories && {
          access: repositories.map((repository) => ({ type: "repository" as const, ...repository })),
        }),
      });
      return `Bearer ${token}`;
    },
    advance: (byMs) => {
      shiftMs += byMs;
    },
    close: () => composition[Symbol.asyncDispose](),
  };
}

// Run as a program it is a process that can be killed: its argument is a folder that is served already, what it prints
// the URL.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const endpoint = await openEndpoint(process.argv[2] ?? "", { prepared: true });
  process.stdout.write(`${endpoint.url}\n`);
}
