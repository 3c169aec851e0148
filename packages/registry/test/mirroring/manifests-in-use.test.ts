import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, OCI_IMAGE, OCI_INDEX } from "../../../server/test/support/installation.ts";
import { startPair } from "../../../server/test/support/mirror.ts";

test("no manifest below an index with a tag of a mirror is deleted, until the source moves the tag", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const image = await upstream.pushImage("acme/app", "amd64", "amd64");
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [{ mediaType: OCI_IMAGE, digest: image.digest, size: image.size }],
  };
  await upstream.pushManifest("acme/app", "v1", index);
  const uid = await mirror("copy", configOf("app", { tagPattern: "v1" }));
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  const remove = () => here.ask("DELETE", `/v2/acme/copy/manifests/${image.digest}`, { token: here.registry });

  const rejected = await remove();
  assert.equal(rejected.status, 405, rejected.text);
  assert.match(rejected.text, /Tag v1 needs this manifest/);
  const pull = () => here.ask("GET", `/v2/acme/copy/manifests/${image.digest}`, { token: here.registry });
  assert.equal(digestOf((await pull()).text), image.digest);

  await upstream.pushImage("acme/app", "v1", "again");
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal((await remove()).status, 202);
});
