import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// The events of blobs wait for those of their manifest; without one they come by themselves.

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_EVENTS_CONCURRENCY: "0" });
});
after(() => platform.close());

/** What was pushed, in the order of the feed: "blob" or "manifest", and the digest. */
async function pushes(): Promise<[unknown, unknown][]> {
  const { events } = await platform.ok<{ events: { data: { body: Record<string, unknown> } }[] }>(
    "GET",
    `/events/v2/events?group=${platform.organization}&type_prefixes=dev.moorage.registry.push.&page_size=200`,
  );
  return events.map(({ data }) => [data.body["type"], data.body["digest"]]);
}

test("a blob that no manifest follows has its event, and blobs of an image have theirs before its manifest", async () => {
  const raw = "alone";
  const digest = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const pushed = await platform.call("POST", `/v2/acme/app/blobs/uploads/?digest=${digest}`, {
    token,
    raw,
    headers: { "content-type": "application/octet-stream" },
  });
  assert.equal(pushed.status, 201, pushed.text);
  await eventually(async () => (await pushes()).length > 0);
  assert.deepEqual(await pushes(), [["blob", digest]]);

  await pushImage(platform, "acme/app", "v1");
  await eventually(async () => (await pushes()).some(([type]) => type === "manifest"));
  const types = (await pushes()).map(([type]) => type);
  assert.equal(types.at(-1), "manifest", "nothing of the image comes after its manifest");
  assert.ok(types.length >= 3);
});
