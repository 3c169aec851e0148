import { eventually } from "./eventually.ts";
import type { TestContext } from "node:test";
import { type Installation, startInstallation } from "./installation.ts";
import { type Front, startFront } from "./upstream.ts";

/** The state of a repo's copying, from the API. */
export interface Sync {
  state: string;
  message: string;
  lastAttemptTime?: string;
  lastSuccessTime?: string;
  nextTime?: string;
  tagsSeen: number;
  manifestsCopied: string;
  bytesCopied: string;
  consecutiveFailures: number;
}

/** A Moorage to copy from, behind a proxy whose failures the test sets, and one that copies. */
export interface Pair {
  upstream: Installation;
  front: Front;
  here: Installation;
  /**
   * Arguments of `syncConfig`: the image of that name behind the proxy, with the credentials of the upstream's owner.
   */
  configOf(name: string, change?: object): object;
  /** Creates a repo of the organization here that mirrors the upstream's image of that name. */
  mirror(name: string, config: object): Promise<string>;
  sync(uid: string): Promise<Sync>;
  /** Requests a run, and returns its result once it has ended. */
  copied(uid: string): Promise<Sync>;
}

export const LOOPBACK = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };

export async function startPair(t: TestContext, env: Record<string, string> = LOOPBACK): Promise<Pair> {
  const upstream = await startInstallation(t);
  const front = await startFront(t, upstream.url);
  const here = await startInstallation(t, env);
  const sync: Pair["sync"] = (uid) => here.api<Sync>("GET", `/registry/v2/repos/${uid}/sync`);
  return {
    upstream,
    front,
    here,
    sync,
    configOf: (name, change = {}) => ({
      source: `${front.url}/acme/${name}`,
      username: "robot",
      password: upstream.platform,
      ...change,
    }),
    mirror: async (name, syncConfig) =>
      (await here.api("POST", `/registry/v2/repos/${here.bootstrap.organization.uid}`, { name, syncConfig })).uid,
    async copied(uid) {
      const before = await sync(uid);
      if (before.state !== "SYNC_STATE_PENDING") await here.api("POST", `/registry/v2/repos/${uid}:sync`, {});
      return eventually(async () => {
        const now = await sync(uid);
        return (
          !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(now.state) &&
          now.lastAttemptTime !== before.lastAttemptTime &&
          now
        );
      });
    },
  };
}
