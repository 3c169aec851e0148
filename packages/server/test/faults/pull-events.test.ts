import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadConfig, signToken } from "../../src/index.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { type ServerProcess, startProcess } from "../support/processes.ts";
import { digestOf, OCI_IMAGE } from "../support/registry-server.ts";
import { eventually } from "../support/eventually.ts";

// A process that is killed loses the pulls in its buffer, which are the last ones, and no others. One that is stopped
// loses none.

// The size of a batch: so many pulls are written immediately.
const PULL_BATCH = 1_000;
const TIMEOUT_MS = 60_000;
const CONFIG = { mediaType: "application/vnd.oci.empty.v1+json", digest: digestOf("{}"), size: 2 };
const MANIFEST = JSON.stringify({ schemaVersion: 2, mediaType: OCI_IMAGE, config: CONFIG, layers: [] });

async function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-pulls-"));
  const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "warn", ...(await databaseEnv(dataDir)) };
  const config = loadConfig(env);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const start = (): Promise<ServerProcess> => startProcess(t, env);
  const server = await start();
  const store = await openStore(config);
  t.after(async () => {
    agent.destroy();
    await store.close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const { reader } = store;
  const { token } = await signToken({
    config: loadConfig({ ...env, MOORAGE_BASE_URL: server.url }),
    audience: "registry",
    ttlMs: 600_000,
  });
  const ask = (method: string, path: string, userAgent: string, body = ""): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        "user-agent": userAgent,
        "content-type": OCI_IMAGE,
        "content-length": Buffer.byteLength(body),
      };
      request(server.url + path, { agent, method, headers, timeout: TIMEOUT_MS }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      })
        .on("error", reject)
        .end(body);
    });
  assert.equal(await ask("POST", `/v2/acme/app/blobs/uploads/?digest=${digestOf("{}")}`, "pusher", "{}"), 201);
  assert.equal(await ask("PUT", "/v2/acme/app/manifests/v1", "pusher", MANIFEST), 201);
  let pulls = 0;
  return {
    server,
    start,
    /** Pulls one after the other, each with its number in the User-Agent. */
    async pull(count: number): Promise<number> {
      for (const end = pulls + count; pulls < end; pulls += 1)
        assert.equal(await ask("GET", "/v2/acme/app/manifests/v1", `pull ${pulls}`), 200);
      return pulls;
    },
    /** The numbers of the pulls that have events. */
    async emitted(): Promise<number[]> {
      // In this order, since an event of the outbox moves to `events` in one transaction when it gets its number.
      const waiting = await reader
        .selectFrom("event_outbox")
        .select(["id", "body"])
        .where("type", "=", "registry.pull.v1")
        .execute();
      const numbered = await reader
        .selectFrom("events")
        .select(["id", "body"])
        .where("type", "=", "registry.pull.v1")
        .execute();
      const bodies = new Map(
        [...waiting, ...numbered].map(({ id, body }) => [id, JSON.parse(body) as { user_agent: string }]),
      );
      return [...bodies.values()]
        .map(({ user_agent: agent }) => Number(agent.slice("pull ".length)))
        .sort((one, other) => one - other);
    },
    /** Whether there are buffered pulls in the database that have no event yet. */
    hasPending: async (): Promise<boolean> =>
      (await reader.selectFrom("pull_notes").select("id").limit(1).executeTakeFirst()) !== undefined,
  };
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test("a process that is killed loses the pulls since its last write, and no others", async (t) => {
  const { server, start, pull, emitted, hasPending } = await open(t);
  await pull(PULL_BATCH);
  await eventually(async () => (await emitted()).length >= PULL_BATCH);
  const answered = await pull(400);
  await server.stop("SIGKILL");
  // Written pulls without events get theirs from the next process.
  await start();
  await eventually(async () => !(await hasPending()));
  const known = await emitted();
  assert.deepEqual(known, counted(known.length), "no gaps and no duplicates");
  assert.ok(known.length >= PULL_BATCH && known.length <= answered);
});

test("a process that is stopped writes every pull that it answered", async (t) => {
  const { server, start, pull, emitted, hasPending } = await open(t);
  const answered = await pull(620);
  assert.equal(await server.stop("SIGTERM"), 0);
  await start();
  await eventually(async () => !(await hasPending()));
  assert.deepEqual(await emitted(), counted(answered));
});
