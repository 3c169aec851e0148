import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, OCI_IMAGE, OCI_INDEX } from "./support/installation.ts";
import { startPair } from "./support/mirror.ts";

test("tags, every architecture and referrers are copied byte for byte, and moves become history", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const arms = await Promise.all(["amd64", "arm64"].map((architecture) => upstream.pushImage("acme/app", architecture, architecture, { architecture })));
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: arms.map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size })) };
  await upstream.pushManifest("acme/app", "v1", index);
  const empty = await upstream.pushBlob("acme/app", "{}");
  const signature = (subject: string, size: number) => ({
    schemaVersion: 2, mediaType: OCI_IMAGE, artifactType: "application/vnd.example.signature", config: { mediaType: "application/vnd.oci.empty.v1+json", digest: empty, size: 2 }, layers: [],
    subject: { mediaType: OCI_IMAGE, digest: subject, size },
  });
  const onArm = signature(arms[1]?.digest ?? "", arms[1]?.size ?? 0);
  assert.equal((await upstream.pushManifest("acme/app", digestOf(JSON.stringify(onArm)), onArm)).status, 201);

  const uid = await mirror("copy", configOf("app"));
  const first = await copied(uid);
  assert.deepEqual([first.state, first.message, first.tagsSeen, first.manifestsCopied, first.consecutiveFailures], ["SYNC_STATE_SUCCEEDED", "", 3, "4", 0]);
  const pull = (path: string) => here.ask("GET", `/v2/acme/copy/${path}`, { token: here.registry });
  const v1 = await pull("manifests/v1");
  assert.deepEqual([v1.status, v1.text, v1.headers.get("docker-content-digest")], [200, JSON.stringify(index), digestOf(JSON.stringify(index))]);
  for (const { digest, layer, config } of arms) {
    assert.equal(digestOf((await pull(`manifests/${digest}`)).text), digest);
    for (const blob of [layer, config]) assert.equal(digestOf((await pull(`blobs/${blob}`)).text), blob);
  }
  const referrersOf = async (digest: string) => ((await pull(`referrers/${digest}`)).json as unknown as { manifests: { digest: string }[] }).manifests.map((each) => each.digest);
  assert.deepEqual(await referrersOf(arms[1]?.digest ?? ""), [digestOf(JSON.stringify(onArm))]);

  // A signature that comes later, beside a tag that moves.
  const onIndex = signature(digestOf(JSON.stringify(index)), JSON.stringify(index).length);
  await upstream.pushManifest("acme/app", digestOf(JSON.stringify(onIndex)), onIndex);
  const moved = await upstream.pushImage("acme/app", "amd64", "again");
  const second = await copied(uid);
  assert.deepEqual([second.state, second.manifestsCopied], ["SYNC_STATE_SUCCEEDED", "6"]);
  assert.deepEqual(await referrersOf(digestOf(JSON.stringify(index))), [digestOf(JSON.stringify(onIndex))]);
  const { history } = (await pull("_service/history/amd64")).json;
  assert.deepEqual(history.map(({ digest }) => digest), [arms[0]?.digest, moved.digest]);
  assert.equal((await copied(uid)).manifestsCopied, "6", "nothing new, nothing copied");
});
