// A server that follows another registry, killed at many points of a turn: it ends as without, and what it had comes no
// second time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { type Image, startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { startProcess } from "../../../server/test/support/processes.ts";
import { SOON } from "../../../server/test/support/replication.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

const POINTS = sized(3, 20);
const NAMES = ["five", "four", "one", "three", "two"];

interface Upstream {
  uid: string;
  followState: { state: string; tags: string; missingTags: string };
}

test("killed at any point of a turn, it ends as without, and what was stored is not fetched again", async (t) => {
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
  const tokens = new Map<string, string>();
  const ask = async (audience: "platform" | "registry", method: string, path: string, body?: object) => {
    const known =
      tokens.get(audience) ?? (await signToken({ config: loadConfig(env), audience, ttlMs: 3_600_000 })).token;
    tokens.set(audience, known);
    return await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${known}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
  };
  const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await ask("platform", method, path, body);
    assert.equal(answer.status, 200, path);
    return (await answer.json()) as T;
  };
  /** Which contents are stored here, and lets the turn of the killed process go on now. */
  const afterKill = async (): Promise<Set<string>> => {
    const { store, db, close } = await openTestStore(dataDir);
    const stored = await store.reader.selectFrom("blobs").select("digest").execute();
    await db.updateTable("upstream_follows").set({ hold_until: 0 }).execute();
    await close();
    return new Set(stored.map(({ digest }) => digest));
  };

  /** Follows five images that are new on both sides. `killAfter`: when so many requests have come. */
  const run = async (name: string, killAfter = Infinity): Promise<number> => {
    const images = new Map<string, Image>();
    for (const each of NAMES) images.set(each, await there.pushImage(`acme/${name}/${each}`, "1", `${name} ${each}`));
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    let requests = 0;
    front.intercept = () => {
      requests += 1;
      if (requests === killAfter) reach();
      return false;
    };
    const group = await api<{ uid: string }>("POST", `/iam/v2/groups/${readBootstrap(dataDir).organization.uid}`, {
      name,
    });
    const source = { registry: front.url, prefix: `acme/${name}`, username: "robot", password: there.platform };
    const { uid } = await api<Upstream>("POST", `/registry/v2/upstreams/${group.uid}`, { ...source, follow: {} });
    if (killAfter !== Infinity) {
      await reached;
      await server.stop("SIGKILL");
      const stored = await afterKill();
      const before = front.seen.length;
      server = await startProcess(t, env);
      await ended(uid);
      const again = front.seen.slice(before).flatMap(({ method, path }) => {
        const [, digest = ""] = /\/blobs\/(sha256:[0-9a-f]{64})$/.exec(path) ?? [];
        return method === "GET" && stored.has(digest) ? [path] : [];
      });
      assert.deepEqual(again, [], `${name}: fetched although it was stored`);
    }
    await ended(uid);
    // All of it is served while the registry is away.
    front.intercept = (_req, res) => {
      res.writeHead(503).end();
      return true;
    };
    for (const [each, { digest, layer, config }] of images)
      for (const path of [`manifests/${digest}`, `blobs/${layer}`, `blobs/${config}`]) {
        const answer = await ask("registry", "GET", `/v2/acme/${name}/${each}/${path}`);
        assert.deepEqual([answer.status, (await answer.bytes()).length > 0], [200, true], `${name}/${each} ${path}`);
      }
    front.intercept = () => false;
    return requests;
  };
  const ended = async (uid: string): Promise<void> => {
    const { tags, missingTags } = await eventually(async () => {
      const { followState } = await api<Upstream>("GET", `/registry/v2/upstreams/${uid}`);
      return followState.state === "SYNC_STATE_SUCCEEDED" && followState;
    });
    assert.deepEqual([tags, missingTags], [String(NAMES.length), "0"]);
  };

  const total = await run("p00");
  for (let point = 1; point <= POINTS; point += 1)
    await run(`p${String(point).padStart(2, "0")}`, Math.max(1, Math.floor((point * total) / (POINTS + 1))));
  assert.equal(await server.stop(), 0);
});
