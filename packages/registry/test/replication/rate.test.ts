// How fast a replication sends, as its destination sees it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startReplicas } from "../../../server/test/support/replication.ts";

const MIB = 2 ** 20;

test("a blob comes piece by piece at the rule's rate, and as fast as can be when that is taken back", async (t) => {
  const { here, front, rule, settled, digestThere } = await startReplicas(t);
  const image = await here.pushImage("acme/app", "1", "x".repeat(MIB));
  const uploads: { received: number; isClosed: boolean }[] = [];
  front.intercept = (req) => {
    if (req.method !== "PUT" || !(req.url ?? "").includes("/blobs/uploads/")) return false;
    const upload = { received: 0, isClosed: false };
    uploads.push(upload);
    req.on("data", (chunk: Buffer) => (upload.received += chunk.length));
    req.on("close", () => (upload.isClosed = true));
    return false;
  };
  // All of it would take a quarter of an hour.
  const { uid } = await rule({ bytesPerSecond: "1024" });
  await eventually(() => uploads.some(({ received }) => received > 0));
  await here.api("PATCH", `/registry/v2/replications/${uid}`, { bytesPerSecond: "0" });
  assert.equal(await eventually(() => digestThere("app", "1")), image.digest);
  await settled(uid);
  const [first] = uploads;
  assert.ok(first !== undefined);
  await eventually(() => first.isClosed);
  assert.ok(first.received > 0 && first.received < MIB, `${first.received} bytes`);
  assert.ok(uploads.some(({ received }) => received > MIB));
});
