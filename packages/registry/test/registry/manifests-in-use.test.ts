import assert from "node:assert/strict";
import { test } from "node:test";
import { NOTHING, startCollecting } from "../../../server/test/support/garbage-collection.ts";

// What a tag names can be pulled whole, for every platform, for as long as the tag is there: none of the manifests
// below an index that it names is deleted by digest, whoever asks.

const PROTECTED = { protectedTags: ["v.*"] };

/** An index of an index of two images, and an image beside it. */
async function startNested(t: Parameters<typeof startCollecting>[0]) {
  const registry = await startCollecting(t);
  const { push, pushIndex, ask, ownerToken: token } = registry;
  const [amd64, arm64, beside] = [
    await push("acme/app", undefined, "amd64"),
    await push("acme/app", "arm64", "arm64"),
    await push("acme/app", "other", "beside"),
  ];
  const inner = await pushIndex("acme/app", undefined, [amd64.digest, arm64.digest]);
  const outer = await pushIndex("acme/app", "v1", [inner]);
  const remove = (reference: string) => ask(`/v2/acme/app/manifests/${reference}`, { method: "DELETE", token });
  return { ...registry, remove, amd64, arm64, beside, inner, outer };
}

test("below an index that a tag names no manifest is deleted by digest, in any nesting", async (t) => {
  const { remove, hasManifest, hasBlob, collect, pass, pushIndex, amd64, arm64, beside, inner, outer } =
    await startNested(t);
  for (const digest of [inner, amd64.digest, arm64.digest]) {
    const answer = await remove(digest);
    assert.equal(answer.status, 405, answer.text);
    const [error] = answer.json.errors as { code: string; message: string; detail: object }[];
    assert.deepEqual(
      [error?.code, error?.message, error?.detail],
      ["UNSUPPORTED", "Tag v1 needs this manifest", { tags: ["v1"], count: 1, manifest: outer }],
    );
    assert.equal(answer.headers.get("allow"), "GET, HEAD");
    assert.ok(await hasManifest("acme/app", digest), "a rejected deletion changes nothing");
  }
  assert.equal((await remove("arm64")).status, 202, "a tag of its own may go, its manifest stays");
  assert.ok(await hasManifest("acme/app", arm64.digest));
  assert.equal((await remove(beside.digest)).status, 202, "an image that no index names may go");
  assert.equal(await pushIndex("acme/app", "v1", [inner]), outer, "the same index is pushed again");
  pass(10);
  await collect();
  for (const { digest, layer } of [amd64, arm64])
    assert.ok((await hasManifest("acme/app", digest)) && (await hasBlob("acme/app", layer)));

  assert.equal((await remove(outer)).status, 202, "the index itself may go, with its tag");
  for (const digest of [inner, amd64.digest, arm64.digest]) assert.equal((await remove(digest)).status, 202);
});

test("the rejection names the tags, the first ten of many by name, and says how many more there are", async (t) => {
  const { remove, pushIndex, inner, amd64 } = await startNested(t);
  await pushIndex("acme/app", "stable", [inner]);
  assert.match((await remove(inner)).text, /Tags stable and v1 need this manifest/);
  for (let n = 0; n < 12; n++) await pushIndex("acme/app", `a${String(n).padStart(2, "0")}`, [inner]);
  const { text } = await remove(amd64.digest);
  assert.match(text, /Tags a00, a01, a02, a03, a04, a05, a06, a07, a08, a09 and 4 more need this manifest/);
});

test("once the tag is gone, or names another image, what it named may be deleted", async (t) => {
  const { remove, push, amd64, inner } = await startNested(t);
  await push("acme/app", "v1", "moved");
  assert.equal((await remove(inner)).status, 202);
  assert.equal((await remove(amd64.digest)).status, 202);
});

test("retention and collections leave all manifests below an index with such a tag", async (t) => {
  const { pass, collect, policy, hasManifest, hasBlob, amd64, arm64, beside, inner } = await startNested(t);
  const short = { historyRetention: "60s", retention: [{ keepFor: "60s" }] };
  for (const tagPolicy of [PROTECTED, { ...PROTECTED, immutableTags: ["v.*"] }]) {
    await policy("app", { ...tagPolicy, ...short });
    pass(10);
    await collect();
  }
  assert.equal(await hasManifest("acme/app", beside.digest), false);
  assert.ok(await hasManifest("acme/app", inner));
  for (const { digest, layer, config } of [amd64, arm64])
    assert.ok(
      (await hasManifest("acme/app", digest)) &&
        (await hasBlob("acme/app", layer)) &&
        (await hasBlob("acme/app", config)),
    );
  assert.deepEqual(await collect(), NOTHING);
});
