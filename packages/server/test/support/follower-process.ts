import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "./database.ts";
import { eventually } from "./eventually.ts";
import { type Installation, startInstallation, temporaryFolder } from "./installation.ts";
import { startProcess } from "./processes.ts";
import { SOON } from "./replication.ts";
import { type Front, startFront } from "./upstream.ts";

type Store = Awaited<ReturnType<typeof openTestStore>>;

/** A Moorage in a process that can be killed, which follows another one behind a proxy. */
export interface FollowerProcess {
  there: Installation;
  front: Front;
  /** A request to the process as its owner. */
  ask(audience: "platform" | "registry", method: string, path: string, body?: object): Promise<Response>;
  /** Has a new group follow what is below acme/PREFIX there. Answers the uid of the upstream. */
  follow(group: string, prefix: string): Promise<string>;
  /** Waits until a turn of the upstream has ended well; answers how many tags it saw, and how many are missing. */
  ended(uid: string): Promise<{ tags: string; missingTags: string }>;
  /** Kills it, reads from its database, lets the turn that was under way go on immediately, and starts it again. */
  killAndStart<T>(read: (store: Store["store"]) => Promise<T>): Promise<T>;
  /** Ends it as an operator does. Answers its exit code. */
  stop(): Promise<number | string>;
}

export async function startFollowerProcess(t: TestContext): Promise<FollowerProcess> {
  const there = await startInstallation(t);
  const front = await startFront(t, there.url);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BASE_URL: "http://moorage.test",
    ...SOON,
    ...(await databaseEnv(dataDir)),
  };
  let server = await startProcess(t, env);
  const tokenFor = async (audience: string): Promise<string> =>
    (await signToken({ config: loadConfig(env), audience, ttlMs: 3_600_000 })).token;
  const tokens = { platform: await tokenFor("platform"), registry: await tokenFor("registry") };
  const ask: FollowerProcess["ask"] = async (audience, method, path, body) =>
    await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${tokens[audience]}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
  const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await ask("platform", method, path, body);
    assert.equal(answer.status, 200, path);
    return (await answer.json()) as T;
  };
  return {
    there,
    front,
    ask,
    async follow(name, prefix) {
      const { organization } = readBootstrap(dataDir);
      const group = await api<{ uid: string }>("POST", `/iam/v2/groups/${organization.uid}`, { name });
      const source = { registry: front.url, prefix, username: "robot", password: there.platform };
      const made = await api<{ uid: string }>("POST", `/registry/v2/upstreams/${group.uid}`, { ...source, follow: {} });
      return made.uid;
    },
    ended: async (uid) =>
      await eventually(async () => {
        const { followState } = await api<{ followState: { state: string; tags: string; missingTags: string } }>(
          "GET",
          `/registry/v2/upstreams/${uid}`,
        );
        return followState.state === "SYNC_STATE_SUCCEEDED" && followState;
      }),
    async killAndStart(read) {
      await server.stop("SIGKILL");
      const { store, db, close } = await openTestStore(dataDir);
      const found = await read(store);
      // The hold of the killed process ends.
      await db.updateTable("upstream_follows").set({ hold_until: 0 }).execute();
      await close();
      server = await startProcess(t, env);
      return found;
    },
    stop: () => server.stop(),
  };
}
