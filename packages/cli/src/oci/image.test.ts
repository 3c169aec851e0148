import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { buildSampleImage, digestOf } from "./image.ts";
import { parseChallenge } from "./challenge.ts";

test("a build has the same bytes each time and other bytes than the next build", async () => {
  const [first, again, second] = await Promise.all([buildSampleImage(1), buildSampleImage(1), buildSampleImage(2)]);
  assert.equal(first.index.digest, again.index.digest);
  assert.notEqual(first.index.digest, second.index.digest);
});

test("every descriptor names existing content, and diff ids are those of the unpacked layers", async () => {
  const { images, index } = await buildSampleImage(3);
  const { manifests } = JSON.parse(index.bytes.toString()) as {
    manifests: { digest: string; size: number; platform: { architecture: string } }[];
  };
  assert.deepEqual(
    manifests.map(({ platform }) => platform.architecture),
    ["amd64", "arm64"],
  );
  for (const [number, { manifest, blobs }] of images.entries()) {
    assert.equal(manifests[number]?.digest, manifest.digest);
    assert.equal(manifests[number]?.size, manifest.bytes.length);
    const [config, ...layers] = blobs;
    assert.ok(config);
    const { rootfs } = JSON.parse(config.bytes.toString()) as { rootfs: { diff_ids: string[] } };
    assert.deepEqual(
      rootfs.diff_ids,
      layers.map(({ bytes }) => digestOf(gunzipSync(bytes))),
    );
    for (const { digest, bytes } of blobs)
      assert.equal(digest, `sha256:${createHash("sha256").update(bytes).digest("hex")}`);
  }
});

test("a challenge is parsed in any order and case, and other schemes are ignored", () => {
  assert.deepEqual(parseChallenge('bearer scope="repository:a/b:pull,push",Realm="http://h/token",service="h"'), {
    realm: "http://h/token",
    service: "h",
    scope: "repository:a/b:pull,push",
  });
  assert.equal(parseChallenge('Basic realm="x"'), undefined);
  assert.equal(parseChallenge(null), undefined);
});
