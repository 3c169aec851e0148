import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseEnv, dropDatabase, ENGINE } from "../support/database.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { eventsOf, ONLY_TESTS, QUICK, startReceiver } from "../support/receiver.ts";
import { eventually } from "../support/eventually.ts";

const NOTICED = /^(?:looking for events to send|the queue of events) failed$/;
const OPTIONS = { timeout: 300_000, skip: ENGINE === "postgres" ? false : "SQLite is in the process itself" };

test("when the database fails during deliveries, all events are still delivered, only later", OPTIONS, async (t) => {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env = await databaseEnv(dataDir);
  const url = new URL(env["MOORAGE_DATABASE_URL"] ?? "");
  const proxy = await startFaultProxy([Number(url.port)]);
  t.after(() => proxy.close());
  url.port = String(proxy.port);
  const settings = {
    ...QUICK,
    ...env,
    MOORAGE_DATABASE_URL: url.href,
    MOORAGE_DATABASE_TIMEOUT: "3s",
    MOORAGE_EVENTS_CONCURRENCY: "2",
  };
  const moorage = await startInstallation(t, settings, dataDir);
  const { subscribe, test: send, deliveries } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  receiver.answer = (_, res) => void setTimeout(() => res.writeHead(200).end(), 20);
  const { uid } = await subscribe(receiver.url, ONLY_TESTS);
  const ids: string[] = [];
  for (let n = 0; n < 40; n += 1) ids.push(await send(uid));
  await eventually(() => receiver.events().length >= 4);
  const problems = (): string[] =>
    moorage.lines
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ level }) => level >= 40)
      .map(({ msg }) => msg);
  const { targets } = proxy;
  proxy.targets = [];
  proxy.cut();
  await eventually(() => problems().some((msg) => NOTICED.test(msg)));
  proxy.targets = targets;
  const all = await eventually(async () => {
    const now = await deliveries(uid).catch(() => []);
    return now.length === ids.length && now.every(({ state }) => state === "DELIVERY_STATE_DELIVERED") && now;
  });
  const got = receiver.events().map(({ headers }) => String(headers["ce-id"]));
  assert.deepEqual([...new Set(got)].toSorted(), ids.toSorted());
  for (const { eventId, tries, attempts } of all) {
    assert.equal(attempts.length, tries);
    assert.ok(got.filter((id) => id === eventId).length <= tries);
  }
  assert.ok(problems().length < 100, "and the log is not filled with it");
});
