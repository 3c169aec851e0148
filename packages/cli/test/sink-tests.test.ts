import assert from "node:assert/strict";
import { test } from "node:test";
import { startReceiver } from "../../server/test/support/receiver.ts";
import { openQuick } from "./quick.ts";

test("a script that tests where events would be sent ends when they do not arrive", async (t) => {
  const { as } = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "true" });
  const receiver = await startReceiver(t);
  const attempt = () => as("subscriptions", "test-sink", "acme", "--sink", receiver.url);
  const arrived = await attempt();
  assert.equal(arrived.code, 0, arrived.stderr);
  assert.match(arrived.stdout, /^delivered: true\nstatus: +204\n/);
  receiver.answer = 500;
  const failed = await attempt();
  assert.equal(failed.code, 1, failed.stderr);
  assert.match(failed.stdout, /^delivered: false\nstatus: +500\n/);
});
