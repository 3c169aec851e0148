import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { type Installation, startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { LOOPBACK, type Sync } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type ServerProcess, startProcess } from "../../../server/test/support/processes.ts";
import { type Front, startFront } from "../../../server/test/support/upstream.ts";

/** A server in a process of its own that copies from a Moorage in this process. */
async function startCopier(t: TestContext, more: Record<string, string> = {}) {
  const upstream = await startInstallation(t);
  const front = await startFront(t, upstream.url);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BASE_URL: "http://moorage.test",
    ...LOOPBACK,
    ...(await databaseEnv(dataDir)),
    ...more,
  };
  const start = (): Promise<ServerProcess> => startProcess(t, env);
  const server = await start();
  const { token } = await signToken({ config: loadConfig(env), audience: "platform", ttlMs: 600_000 });
  const parent = readBootstrap(dataDir).organization.uid;
  const ask = async <T>({ port }: ServerProcess, method: string, path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    assert.equal(answer.status, 200, path);
    return (await answer.json()) as T;
  };
  return {
    upstream,
    front,
    dataDir,
    server,
    start,
    mirror: async (name: string): Promise<string> => {
      const syncConfig = { source: `${front.url}/acme/${name}`, username: "robot", password: upstream.platform };
      return (await ask<{ uid: string }>(server, "POST", `/registry/v2/repos/${parent}`, { name, syncConfig })).uid;
    },
    sync: (from: ServerProcess, uid: string) => ask<Sync>(from, "GET", `/registry/v2/repos/${uid}/sync`),
  };
}

const blobsOf = ({ seen }: Front): string[] =>
  seen.filter(({ method, path }) => method === "GET" && path.includes("/blobs/")).map(({ path }) => path);

async function push(upstream: Installation, name: string, tags: number): Promise<void> {
  for (let tag = 0; tag < tags; tag += 1) await upstream.pushImage(`acme/${name}`, `v${tag}`, `${name} ${tag}`);
}

test("several processes share the repos, and no two copy the same one", { timeout: 300_000 }, async (t) => {
  const { upstream, front, server, mirror, sync } = await startCopier(t, { MOORAGE_WORKERS: "3" });
  const names = ["one", "two", "three", "four"];
  for (const name of names) await push(upstream, name, 3);
  const uids = await Promise.all(names.map(mirror));
  for (const uid of uids) {
    const done = await eventually(async () => {
      const now = await sync(server, uid);
      return now.state === "SYNC_STATE_SUCCEEDED" && now;
    });
    assert.deepEqual([done.tagsSeen, done.manifestsCopied], [3, "3"]);
  }
  const blobs = blobsOf(front);
  assert.deepEqual(blobs.toSorted(), [...new Set(blobs)].toSorted(), "each blob came once");
  assert.equal(blobs.length, names.length * 3 * 2);
  const lists = front.seen.filter(
    ({ path, authorization }) => path.includes("/tags/list") && authorization !== undefined,
  );
  assert.equal(lists.length, names.length, "each repo had one turn");
  assert.equal(await server.stop(), 0);
});

test(
  "copied content stays when a process is killed, and another process continues",
  { timeout: 300_000 },
  async (t) => {
    const { upstream, front, server, dataDir, mirror, sync, start } = await startCopier(t);
    await push(upstream, "app", 4);
    const first = new Set<string>();
    const { promise: stuck, resolve } = Promise.withResolvers<void>();
    front.intercept = (req) => {
      if (!req.url?.includes("/blobs/")) return false;
      first.add(req.url);
      // Two images pass; the blobs of the third never arrive.
      if (first.size > 4) resolve();
      return first.size > 4;
    };
    const uid = await mirror("app");
    await stuck;
    await server.stop("SIGKILL");
    front.intercept = () => false;
    const before = front.seen.length;
    const again = await start();
    assert.equal((await sync(again, uid)).state, "SYNC_STATE_RUNNING", "the end of the process is not yet noticed");
    const { store, db, close } = await openTestStore(dataDir);
    assert.equal(
      (await store.reader.selectFrom("mirrors").select("hold_until").executeTakeFirstOrThrow()).hold_until > Date.now(),
      true,
    );
    // The hold of the killed process ends.
    await db.updateTable("mirrors").set({ hold_until: 0 }).execute();
    await close();
    const done = await eventually(async () => {
      const now = await sync(again, uid);
      return now.state === "SYNC_STATE_SUCCEEDED" && now;
    });
    assert.deepEqual([done.tagsSeen, done.manifestsCopied], [4, "4"]);
    const later = new Set(
      front.seen
        .slice(before)
        .filter(({ path }) => path.includes("/blobs/"))
        .map(({ path }) => path),
    );
    assert.equal(
      [...first].slice(0, 4).filter((path) => later.has(path)).length,
      0,
      "what was here was not fetched again",
    );
    assert.equal(await again.stop(), 0);
  },
);

test("a server that shuts down does not wait for its sources", { timeout: 300_000 }, async (t) => {
  const { upstream, front, server, mirror } = await startCopier(t, { MOORAGE_DRAIN_TIMEOUT: "5s" });
  await push(upstream, "app", 1);
  const { promise: stuck, resolve } = Promise.withResolvers<void>();
  front.intercept = (req) => {
    if (!req.url?.includes("/blobs/")) return false;
    resolve();
    return true;
  };
  await mirror("app");
  await stuck;
  assert.equal(await server.stop(), 0);
  assert.deepEqual(
    server.lines.filter(({ level }) => level >= 50),
    [],
  );
});
