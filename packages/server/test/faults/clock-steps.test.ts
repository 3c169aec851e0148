import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";
import { openIssuer } from "../support/issuer.ts";
import { LOOPBACK, type Sync } from "../support/mirror.ts";
import { startProcess } from "../support/processes.ts";
import { type Delivery, eventsOf, ONLY_TESTS, startReceiver } from "../support/receiver.ts";
import { startFront } from "../support/upstream.ts";

// The whole server, in a process whose time of day is set back and forward while it works. Nothing may wait until the
// clock reaches its old time again.

const HOUR_MS = 3_600_000;
const PRELOAD = new URL("../support/stepped-clock.ts", import.meta.url).href;
const PER_SECOND = 20;
// Half as often as the rate limit allows.
const WITHIN_LIMIT = { everyMs: 2_000 / PER_SECOND };

interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** A server whose clock the test sets, which delivers events to a receiver and mirrors from another Moorage. */
async function startServer(t: TestContext, more: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const file = join(dataDir, "clock");
  const set = async (offsetMs: number): Promise<void> => {
    writeFileSync(`${file}.new`, String(offsetMs));
    renameSync(`${file}.new`, file);
    // Longer than a process keeps what the file held.
    await wait(50);
  };
  await set(0);
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BASE_URL: "http://moorage.test",
    ...LOOPBACK,
    ...(await databaseEnv(dataDir)),
    MOORAGE_EVENTS_RETRY: Array.from({ length: 15 }, () => "4s").join(),
    MOORAGE_EVENTS_TIMEOUT: "30s",
    MOORAGE_RATE_LIMIT_IDENTITY: `${PER_SECOND}/s:${PER_SECOND}`,
    MOORAGE_RATE_LIMIT_ADDRESS: `${2 * PER_SECOND}/s:${2 * PER_SECOND}`,
    ...more,
  };
  const { port } = await startProcess(t, { ...env, STEPPED_CLOCK_FILE: file, NODE_OPTIONS: `--import ${PRELOAD}` });
  const config = loadConfig(env);
  const sign = async (audience: "platform" | "registry") =>
    (await signToken({ config, audience, ttlMs: HOUR_MS })).token;
  const ask = async <T>(token: string, method: string, path: string, body?: unknown): Promise<Answer<T>> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) as T };
  };
  /** A request of a client that waits for as long as a rejection says: a second at most, by the limits. */
  const polite = async <T>(token: string, method: string, path: string, body?: unknown): Promise<Answer<T>> => {
    for (let rejections = 0; ; rejections += 1) {
      const answer = await ask<T>(token, method, path, body);
      if (answer.status !== 429) return answer;
      assert.ok(rejections < 10, "the rate limit lets nobody through any more");
      const seconds = Number(answer.headers.get("retry-after"));
      assert.ok(seconds <= 2, `to wait for ${seconds} s is too long`);
      await wait(seconds * 1000);
    }
  };
  return { set, dataDir, sign, ask, polite, bootstrap: readBootstrap(dataDir) };
}

for (const workers of ["1", "2"]) {
  test(
    `a clock that is set back by an hour, then to an hour ahead, stops nothing (workers: ${workers})`,
    { timeout: 400_000 },
    async (t) => {
      const upstream = await startInstallation(t);
      await upstream.pushImage("acme/app", "v1", "some layer");
      const front = await startFront(t, upstream.url);
      const receiver = await startReceiver(t);
      const issuer = await openIssuer();
      t.after(() => issuer.close());
      const server = await startServer(t, { MOORAGE_WORKERS: workers });
      const { ask, polite, bootstrap } = server;
      const organization = bootstrap.organization.uid;
      let token = await server.sign("platform");
      const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
        const answer = await polite<T>(token, method, path, body);
        assert.equal(answer.status, 200, `${path} ${JSON.stringify(answer.body)}`);
        return answer.body;
      };
      const events = eventsOf({ api, bootstrap });
      const { uid: ci } = await api<{ uid: string }>("POST", `/iam/v2/identities/${organization}`, {
        name: "ci",
        claimMatch: { issuer: issuer.url, subject: "robot" },
      });
      const { roles } = await api<{ roles: { uid: string }[] }>("GET", "/iam/v2/roles?name=owner");
      await api("POST", `/iam/v2/roleBindings/${organization}`, { identityUid: ci, roleUid: roles[0]?.uid });
      /** A token of this server for a token of the issuer, whose clock shows the same as the server's. */
      const exchanged = async (offsetMs: number): Promise<string> => {
        const now = Math.floor((Date.now() + offsetMs) / 1000);
        const theirs = { iss: issuer.url, sub: "robot", aud: "http://moorage.test", iat: now, exp: now + 300 };
        const path = `/sts/exchange?identity=${ci}&aud=http://moorage.test`;
        const answer = await polite<{ token: string }>(await issuer.sign(theirs), "GET", path);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        return answer.body.token;
      };
      /** Sends more requests than the burst allows, until one is rejected. */
      const exhaust = async (): Promise<void> => {
        await eventually(async () => {
          const many = Array.from({ length: 3 * PER_SECOND }, () => ask(token, "GET", "/iam/v2/groups"));
          return (await Promise.all(many)).some(({ status }) => status === 429);
        });
      };
      const subscription = (await events.subscribe(receiver.url, ONLY_TESTS)).uid;
      const sync = (uid: string): Promise<Sync> => api<Sync>("GET", `/registry/v2/repos/${uid}/sync`);
      const mirror = async (name: string, more: object = {}): Promise<string> => {
        const syncConfig = { source: `${front.url}/acme/app`, username: "robot", password: upstream.platform, ...more };
        return (await api<{ uid: string }>("POST", `/registry/v2/repos/${organization}`, { name, syncConfig })).uid;
      };
      const pull = async (name: string): Promise<number> =>
        (await polite(await server.sign("registry"), "GET", `/v2/${bootstrap.organization.name}/${name}/manifests/v1`))
          .status;
      const succeeded = (uid: string) =>
        eventually(async () => (await sync(uid)).state === "SYNC_STATE_SUCCEEDED", WITHIN_LIMIT);
      const delivery = (id: string) =>
        eventually(async () => {
          const of = ({ eventId }: Delivery): boolean => eventId === id;
          return (await events.deliveries(subscription)).find(of);
        }, WITHIN_LIMIT);
      /** Waits for it. A step of the clock may not start more attempts than the one that is due. */
      const delivered = async (id: string, triesBefore = 0): Promise<void> => {
        const { tries } = await eventually(async () => {
          const one = await delivery(id);
          return one.state === "DELIVERY_STATE_DELIVERED" && one;
        }, WITHIN_LIMIT);
        assert.ok(tries <= triesBefore + 2, `${tries} attempts, ${triesBefore} of them before`);
      };

      // Before the clock is set: an event, a mirror run and a pull that failed and back off, and a rate at its limit.
      receiver.answer = 500;
      front.intercept = (_, res) => {
        res.writeHead(500).end();
        return true;
      };
      const failed = await events.test(subscription);
      await eventually(() => receiver.events().length > 0);
      const mirrored = await mirror("mirrored");
      await eventually(async () => (await sync(mirrored)).state === "SYNC_STATE_FAILED", WITHIN_LIMIT);
      await mirror("through", { pullThrough: true });
      assert.notEqual(await pull("through"), 200);
      await exhaust();
      const { tries } = await delivery(failed);

      await server.set(-HOUR_MS);
      receiver.answer = 204;
      front.intercept = () => false;
      // The token of before is still good: this server signed it, and it did not end.
      await delivered(await events.test(subscription));
      await exhaust();
      await delivered(failed, tries);
      await eventually(async () => (await pull("through")) === 200, WITHIN_LIMIT);
      await succeeded(mirrored);
      token = await exchanged(-HOUR_MS);
      await api("GET", "/iam/v2/groups");

      // To an hour ahead of the start: two hours at a time. An attempt is under way, which nobody may repeat.
      const { promise: attempted, resolve } = Promise.withResolvers<() => void>();
      receiver.answer = (_, res) => resolve(() => void res.writeHead(204).end());
      const slow = await events.test(subscription);
      const answer = await attempted;
      await exhaust();
      await server.set(HOUR_MS);
      assert.equal((await polite(token, "GET", "/iam/v2/groups")).status, 401, "a token ends by the time of day");
      token = await exchanged(HOUR_MS);
      receiver.answer = 204;
      const next = await events.test(subscription);
      // Another process would have begun by now. The next event may wait for the attempt: a process that has delivered
      // nothing yet makes one at a time.
      await wait(3_000);
      answer();
      await delivered(slow);
      await delivered(next);
      assert.equal(receiver.events().filter(({ headers }) => headers["ce-id"] === slow).length, 1);
      await exhaust();
      await api("POST", `/registry/v2/repos/${mirrored}:sync`, {});
      await succeeded(mirrored);
    },
  );
}
