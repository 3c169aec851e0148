import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { create } from "@bufbuild/protobuf";
import { PingResponseSchema } from "@moorage/api";
import {
  backupInstallation,
  type Config,
  exportInstallation,
  importInstallation,
  loadConfig,
  restoreInstallation,
} from "../../src/index.ts";
import { appendEvents } from "../../../platform/src/events/index.ts";
import { SILENT } from "../../src/admin/progress.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE } from "../support/database.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";
import { eventsOf, type Got, QUICK, type Receiver, startReceiver } from "../support/receiver.ts";
import { eventually } from "../support/eventually.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

// Pending events, with or without a number, and deliveries being sent when an installation is exported: the imported
// installation sends them, each at most once more, with the same signing secret.

interface Place {
  dataDir: string;
  env: Record<string, string>;
  config: Config;
}

async function place(
  t: TestContext,
  engine: "sqlite" | "postgres",
  extra: Record<string, string> = {},
): Promise<Place> {
  const dataDir = temporaryFolder(t);
  const env = {
    ...QUICK,
    ...(engine === "sqlite" ? { MOORAGE_DATABASE_URL: "" } : await databaseEnv(dataDir)),
    ...extra,
  };
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }) };
}

/** Appends an event of the group to the outbox. Returns its id and its number in the outbox. */
async function appendEvent(config: Config, group: string, id: string): Promise<{ id: string; n: number }> {
  const store = await openStore(config);
  const event = {
    id,
    type: "late.v1",
    subject: group,
    group,
    schema: PingResponseSchema,
    body: create(PingResponseSchema),
  };
  const data = systemCall(Date.now());
  const row = await store.transact(async (tx) => {
    await appendEvents(tx, data, [event]);
    return await tx.selectFrom("event_outbox").select("n").where("id", "=", id).executeTakeFirstOrThrow();
  });
  await store.close();
  return { id, n: row.n };
}

/**
 * An installation with three numbered events that were not sent, one of which looks as if it were being sent, and two
 * events without a number. Its server has ended.
 */
async function fill(t: TestContext, { dataDir, env, config }: Place, sink: string) {
  const server = await startInstallation(t, { ...env, MOORAGE_EVENTS_CONCURRENCY: "0" }, dataDir);
  const { organization } = eventsOf(server);
  const { uid: group } = await server.api("POST", `/iam/v2/groups/${organization}`, { name: "moved" });
  const { uid: subscription, secret } = await server.api<{ uid: string; secret: string }>(
    "POST",
    `/events/v2/subscriptions/${group}`,
    { sink },
  );
  for (const name of ["one", "two", "three"]) await server.api("POST", `/iam/v2/groups/${group}`, { name });
  await eventually(async () => (await eventsOf(server).deliveries(subscription)).length >= 3);
  await server.close();
  const store = await openStore(config);
  const rows = await store.reader
    .selectFrom("deliveries")
    .select("event_id")
    .where("parent", "=", subscription)
    .orderBy("seq")
    .execute();
  const ids = rows.map((row) => row.event_id);
  await store.transact(async (tx) => {
    await tx
      .updateTable("deliveries")
      .set({ state: 2, tries: 1 })
      .where("event_id", "=", ids[0] ?? "")
      .execute();
    await tx
      .insertInto("subscription_leases")
      .values({ subscription, holder: "somebody", until_time: Date.now() + 3_600_000 })
      .execute();
  });
  await store.close();
  const late = [await appendEvent(config, group, "late-1"), await appendEvent(config, group, "late-2")];
  return { group, subscription, secret, ids, late };
}

function verify(secret: string, { headers, body }: Got): void {
  const id = headers["webhook-id"];
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);
}

/** Serves the place, and asserts that every event is sent once: the pending ones and new ones. */
async function sendsAll(
  t: TestContext,
  { dataDir, env, config }: Place,
  receiver: Receiver,
  before: Awaited<ReturnType<typeof fill>>,
): Promise<void> {
  const { n } = await appendEvent(config, before.group, "after");
  assert.ok(
    n > Math.max(...before.late.map((one) => one.n)),
    "events after the import are numbered after those before the export",
  );
  const server = await startInstallation(t, env, dataDir);
  const fresh = await eventsOf(server).test(before.subscription);
  const known = [...before.ids, ...before.late.map(({ id }) => id), "after", fresh];
  const ids = () => receiver.events().map(({ headers }) => String(headers["ce-id"]));
  await eventually(() => known.every((id) => ids().includes(id)));
  const deliveries = await eventually(async () => {
    const found = await eventsOf(server).deliveries(before.subscription);
    return found.every(({ state }) => state === "DELIVERY_STATE_DELIVERED") && found;
  });
  assert.equal(new Set(ids()).size, ids().length, "each is sent once");
  for (const event of receiver.events()) verify(before.secret, event);
  const interrupted = deliveries.find(({ eventId }) => eventId === before.ids[0]);
  assert.deepEqual([interrupted?.tries, interrupted?.attempts[0]?.error], [2, "interrupted"]);
  const store = await openStore(config);
  const seqs = (await store.reader.selectFrom("events").select(["seq", "id"]).orderBy("seq").execute()).map(
    ({ seq }) => seq,
  );
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => at + 1),
  );
  await store.close();
  await server.close();
}

const ways: ["sqlite" | "postgres", "sqlite" | "postgres"][] =
  ENGINE === "sqlite"
    ? [["sqlite", "sqlite"]]
    : [
        ["sqlite", "postgres"],
        ["postgres", "sqlite"],
      ];

for (const [from, to] of ways) {
  test(`pending events are exported and imported from ${from} to ${to}`, { timeout: 300_000 }, async (t) => {
    const receiver = await startReceiver(t);
    const [here, there] = [
      await place(t, from),
      await place(t, to, { MOORAGE_SECRET_KEY: randomBytes(32).toString("hex") }),
    ];
    const before = await fill(t, here, receiver.url);
    const out = temporaryFolder(t);
    await exportInstallation(here.config, out, SILENT);
    await importInstallation(there.config, out, SILENT);
    await sendsAll(t, there, receiver, before);
  });
}

test(
  "pending events are in a backup",
  { timeout: 300_000, skip: ENGINE === "sqlite" ? false : "a backup is of SQLite" },
  async (t) => {
    const receiver = await startReceiver(t);
    const [here, there] = [await place(t, "sqlite"), await place(t, "sqlite")];
    const before = await fill(t, here, receiver.url);
    const folder = temporaryFolder(t);
    await backupInstallation(here.config, folder, SILENT);
    await restoreInstallation(there.config, folder, { verify: true }, SILENT);
    await sendsAll(t, there, receiver, before);
  },
);
