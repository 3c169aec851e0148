import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase, ENGINE, openTestStore } from "../../../server/test/support/database.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { startProcess } from "../../../server/test/support/processes.ts";
import {
  type Delivery,
  eventsOf,
  type Got,
  ONLY_TESTS,
  QUICK,
  startReceiver,
} from "../../../server/test/support/receiver.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

/** An installation whose server runs in a process of its own. */
async function openServers(t: TestContext, more: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BASE_URL: "http://moorage.test",
    ...QUICK,
    ...(await databaseEnv(dataDir)),
    ...more,
  };
  let server = await startProcess(t, env);
  const { token } = await signToken({ config: loadConfig(env), audience: "platform", ttlMs: 3_600_000 });
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path} ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    dataDir,
    ...eventsOf({ api, bootstrap: readBootstrap(dataDir) }),
    server: () => server,
    /** Kills the server with SIGKILL, and starts it again. */
    async killed() {
      await server.stop("SIGKILL");
      server = await startProcess(t, env);
    },
  };
}

const isDelivered = ({ state }: Delivery): boolean => state === "DELIVERY_STATE_DELIVERED";
const idOf = ({ headers }: Got): string => String(headers["ce-id"]);

test(
  "several processes share the subscriptions, and no delivery is attempted twice concurrently",
  { timeout: 300_000 },
  async (t) => {
    const servers = await openServers(t, {
      MOORAGE_WORKERS: "2",
      MOORAGE_EVENTS_TIMEOUT: "20s",
      MOORAGE_EVENTS_RETRY: "1ms,1ms,1ms,1ms,1ms,1ms,1ms,1ms",
    });
    const open = new Set<string>();
    const twice: string[] = [];
    const receivers = await Promise.all(Array.from({ length: 4 }, () => startReceiver(t)));
    const uids: string[] = [];
    for (const [at, receiver] of receivers.entries()) {
      let count = 0;
      receiver.answer = (_, res, got) => {
        const id = idOf(got);
        if (open.has(id)) twice.push(id);
        open.add(id);
        count += 1;
        const status = count % 5 === 0 ? 500 : 200;
        setTimeout(() => {
          open.delete(id);
          res.writeHead(status).end();
        }, at * 5);
      };
      uids.push((await servers.subscribe(receiver.url, ONLY_TESTS)).uid);
    }
    for (let n = 0; n < 12; n += 1) for (const uid of uids) await servers.test(uid);
    for (const [at, uid] of uids.entries()) {
      const all = await eventually(async () => {
        const now = await servers.deliveries(uid);
        return now.length === 12 && now.every(isDelivered) && now;
      });
      const got = receivers[at]?.events() ?? [];
      for (const { eventId, tries, attempts } of all) {
        assert.equal(attempts.length, tries);
        assert.equal(got.filter((one) => idOf(one) === eventId).length, tries, "the log has each try, and no other");
      }
    }
    assert.deepEqual(twice, []);
  },
);

test(
  "a process that is killed before or after it sent loses nothing, and each attempt is recorded",
  { timeout: 300_000 },
  async (t) => {
    // The lease of the killed process ends after its time; on SQLite, where it is the only process, immediately.
    const servers = await openServers(t, {
      MOORAGE_EVENTS_CONCURRENCY: "1",
      MOORAGE_EVENTS_TIMEOUT: ENGINE === "sqlite" ? "60s" : "6s",
    });
    const receiver = await startReceiver(t);
    const asked = Promise.withResolvers<ServerResponse>();
    // The sink has received the event, and the server does not know that.
    receiver.answer = (_, res) => asked.resolve(res);
    const { uid } = await servers.subscribe(receiver.url, ONLY_TESTS);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push(await servers.test(uid));
    await asked.promise;
    receiver.answer = 200;
    // This event is committed, but the server has no time to send it.
    ids.push(await servers.test(uid));
    await servers.killed();
    const all = await eventually(async () => {
      const now = await servers.deliveries(uid);
      return now.length === ids.length && now.every(isDelivered) && now;
    });
    const [first, ...others] = receiver.events();
    assert.ok(first !== undefined);
    const again = others.filter((one) => idOf(one) === idOf(first));
    assert.deepEqual(
      again.map(({ body }) => body),
      [first.body],
      "it was sent once more, the same",
    );
    assert.deepEqual(receiver.events().map(idOf).toSorted(), [...ids, idOf(first)].toSorted());
    for (const { eventId, tries, attempts } of all) {
      const errors = attempts.map(({ error }) => error);
      assert.equal(tries, errors.length);
      assert.equal(errors.at(-1), "");
      if (eventId === idOf(first)) assert.deepEqual(errors, ["interrupted", ""]);
      // Deliveries that were about to be sent count as attempted, because that cannot be ruled out.
      else
        assert.ok(
          errors.slice(0, -1).every((error) => error === "interrupted"),
          String(errors),
        );
    }
    assert.equal(await servers.server().stop(), 0);
    const { store, close } = await openTestStore(servers.dataDir);
    assert.deepEqual(await store.reader.selectFrom("subscription_leases").selectAll().execute(), []);
    await close();
  },
);
