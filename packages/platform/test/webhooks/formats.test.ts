import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { eventsOf, ONLY_TESTS, QUICK, startReceiver } from "../../../server/test/support/receiver.ts";

// Slack and Teams cannot run here: receivers stand for them, and the messages follow their published formats.

test("a chat gets what the sample showed, without handshake, token and signature", async (t) => {
  const moorage = await startInstallation(t, QUICK);
  const { organization, subscribe, test: send, deliveries } = eventsOf(moorage);
  for (const format of ["SLACK", "TEAMS"]) {
    const receiver = await startReceiver(t);
    const wanted = `SUBSCRIPTION_FORMAT_${format}`;
    const path = `/events/v2/subscriptionSample/${organization}?format=${wanted}`;
    const sample = await moorage.api<{ body: string; signed: boolean }>("GET", path);
    assert.equal(sample.signed, false);
    const made = await subscribe(receiver.url, { ...ONLY_TESTS, format: wanted });
    assert.equal((made as unknown as { format: string }).format, wanted);
    await send(made.uid);
    await eventually(async () =>
      (await deliveries(made.uid)).some(({ state }) => state === "DELIVERY_STATE_DELIVERED"),
    );
    const [got, ...others] = receiver.got;
    assert.deepEqual([got?.method, others.length], ["POST", 0]);
    assert.equal(got?.headers["content-type"], "application/json");
    for (const name of ["authorization", "webhook-signature", "ce-id"]) assert.equal(got?.headers[name], undefined);
    // The same but for the time and the subscription, which the sample has not.
    const plain = (text: string): string =>
      text
        .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, "time")
        .replaceAll(made.uid, "uid")
        .replaceAll(organization, "uid");
    assert.equal(plain(got?.body ?? ""), plain(sample.body));
  }
});

test("without a format it is a signed CloudEvent, and its sample is the body of one", async (t) => {
  const moorage = await startInstallation(t, QUICK);
  const { organization, subscribe, test: send } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  const { uid } = await subscribe(receiver.url, ONLY_TESTS);
  await send(uid);
  await eventually(async () => receiver.events().length === 1);
  const [got] = receiver.events();
  assert.equal(got?.headers["ce-type"], "dev.moorage.events.test.v1");
  const sample = await moorage.api<{ body: string; signed: boolean }>(
    "GET",
    `/events/v2/subscriptionSample/${organization}`,
  );
  assert.equal(sample.signed, true);
  assert.deepEqual(Object.keys(JSON.parse(sample.body) as object), Object.keys(JSON.parse(got.body) as object));
});
