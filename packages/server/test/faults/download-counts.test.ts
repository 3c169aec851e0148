import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadConfig, signToken } from "../../src/index.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { dayOf } from "../../../kernel/src/lib/days.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { publishDocument, tarballOf } from "../support/npm.ts";
import { type ServerProcess, startProcess } from "../support/processes.ts";

// A process that is killed loses the downloads that it had not written, and the others say of which day some are
// missing. One that is stopped loses none.

const TARBALL = "/npm/acme/left/-/left-1.0.0.tgz";

async function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-downloads-"));
  const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "warn", ...(await databaseEnv(dataDir)) };
  const start = (): Promise<ServerProcess> => startProcess(t, env);
  const server = await start();
  const store = await openStore(loadConfig(env));
  t.after(async () => {
    await store.close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const { reader } = store;
  const config = loadConfig({ ...env, MOORAGE_BASE_URL: server.url });
  const { token } = await signToken({ config, audience: "registry", ttlMs: 600_000 });
  const ask = async (path: string, init: RequestInit = {}): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(server.url + path, { ...init, headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const document = publishDocument("left", "1.0.0", { tarball: tarballOf({ name: "left", version: "1.0.0" }) });
  assert.equal(await ask("/npm/acme/left", { method: "PUT", body: JSON.stringify(document) }), 201);
  return {
    server,
    store,
    start,
    async download(times: number): Promise<void> {
      for (let at = 0; at < times; at += 1) assert.equal(await ask(TARBALL), 200);
    },
    async counted(): Promise<number> {
      const rows = await reader.selectFrom("download_days").select(["item", "count"]).execute();
      return Math.max(0, ...rows.map(({ count }) => Number(count)));
    },
    counters: async (): Promise<string[]> =>
      (await reader.selectFrom("download_counters").select("id").execute()).map(({ id }) => id),
    gaps: async (): Promise<number[]> =>
      (await reader.selectFrom("download_gaps").select("day").execute()).map(({ day }) => Number(day)),
  };
}

test("a process that is killed is missed, and its day is said to lack downloads", async (t) => {
  const { server, store, start, download, counted, counters, gaps } = await open(t);
  await download(3);
  await eventually(async () => (await counted()) === 3);
  await download(40);
  await server.stop("SIGKILL");
  const [killed] = await counters();
  assert.ok(killed !== undefined);
  // Three minutes go by.
  await store.transact(async (tx) => void (await tx.updateTable("download_counters").set({ until_time: 1 }).execute()));
  await start();
  await eventually(async () => (await gaps()).includes(dayOf(Date.now())));
  const known = await counted();
  assert.ok(known >= 3 && known <= 43, String(known));
  assert.ok(!(await counters()).includes(killed));
});

test("a process that is stopped writes all downloads that it answered", async (t) => {
  const { server, download, counted, counters, gaps } = await open(t);
  await download(25);
  assert.equal(await server.stop("SIGTERM"), 0);
  assert.deepEqual([await counted(), await counters(), await gaps()], [25, [], []]);
});
