// A turn of a registry that is followed, killed in the middle of a blob, goes on in another process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { startProcess } from "../../../server/test/support/processes.ts";
import { SOON } from "../../../server/test/support/replication.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

const NAMES = ["five", "four", "one", "three", "two"];

test(
  "killed in a turn, it ends as without, and what came whole does not come again",
  { timeout: 240_000 },
  async (t) => {
    const there = await startInstallation(t);
    for (const name of NAMES) await there.pushImage(`acme/${name}`, "1", name);
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
    const { token } = await signToken({ config: loadConfig(env), audience: "platform", ttlMs: 600_000 });
    const api = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as {
        uid: string;
        followState: { state: string; tags: string; missingTags: string };
      };
    };
    const hanging = new Set<string>();
    let isHanging = true;
    const { promise: stuck, resolve } = Promise.withResolvers<void>();
    front.intercept = (req) => {
      const [, name = ""] = /^\/v2\/acme\/(\w+)\/blobs\//.exec(req.url ?? "") ?? [];
      // Three are copied at a time, in the order of the catalog: one of the first three comes whole, then all hang.
      if (!isHanging || name === "" || name === "one") return false;
      if (hanging.add(name).size === 3) resolve();
      return true;
    };
    const group = await api("POST", `/iam/v2/groups/${readBootstrap(dataDir).organization.uid}`, { name: "edge" });
    const source = { registry: front.url, prefix: "acme", username: "robot", password: there.platform };
    const { uid } = await api("POST", `/registry/v2/upstreams/${group.uid}`, { ...source, follow: {} });
    await stuck;
    await server.stop("SIGKILL");
    isHanging = false;
    const before = front.seen.length;
    const { store, db, close } = await openTestStore(dataDir);
    const whole = await store.reader
      .selectFrom("upstream_repos")
      .select("name")
      .where("follow_time", "is not", null)
      .execute();
    assert.deepEqual(
      whole.map(({ name }) => name),
      ["acme/one"],
    );
    // The hold of the killed process ends.
    await db.updateTable("upstream_follows").set({ hold_until: 0 }).execute();
    await close();
    server = await startProcess(t, env);
    const state = await eventually(async () => {
      const { followState } = await api("GET", `/registry/v2/upstreams/${uid}`);
      return followState.state === "SYNC_STATE_SUCCEEDED" && followState;
    });
    assert.deepEqual([state.tags, state.missingTags], [String(NAMES.length), "0"]);
    const later = front.seen.slice(before).map(({ path }) => path);
    assert.deepEqual(
      later.filter((path) => path.startsWith("/v2/acme/one/")),
      [],
      "what was copied whole is not asked for",
    );
    assert.equal(await server.stop(), 0);
  },
);
