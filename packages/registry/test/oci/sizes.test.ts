import assert from "node:assert/strict";
import { test } from "node:test";
import { OCI_IMAGE, OCI_INDEX, startRegistry } from "../../../server/test/support/registry-server.ts";

test("a manifest that states another size than its content has is rejected, and nothing is stored", async (t) => {
  const { ask, image, ownerToken: token, pushManifest } = await startRegistry(t);
  const { manifest, digest, body, layer, config } = await image("acme/app", "one");
  const right = manifest as { config: { size: number }; layers: { size: number }[] };
  const [configSize, layerSize] = [right.config.size, right.layers[0]?.size ?? 0];
  const [ofConfig, ofLayer] = [{ ...right.config }, { ...right.layers[0], size: layerSize }];
  const rejected = async (wrong: object, detail: object[]) => {
    const { status, json, text } = await pushManifest("acme/app", "v1", wrong);
    assert.deepEqual([status, json.errors[0]?.code, json.errors[0]?.detail], [400, "SIZE_INVALID", detail], text);
    assert.equal((await ask("/v2/acme/app/manifests/v1", { token })).status, 404);
  };
  await rejected({ ...right, config: { ...ofConfig, size: configSize + 1 } }, [{ digest: config, size: configSize }]);
  await rejected({ ...right, layers: [{ ...ofLayer, size: 0 }] }, [{ digest: layer, size: layerSize }]);
  const twice = await pushManifest("acme/app", "v1", { ...right, layers: [{ ...ofLayer, size: 1 }, ofLayer] });
  assert.equal(twice.status, 400);
  assert.match(twice.text, /is named with two sizes/);
  assert.equal((await pushManifest("acme/app", digest, body)).status, 201);
  const indexOf = (size: number) => ({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [{ mediaType: OCI_IMAGE, digest, size }],
  });
  await rejected(indexOf(body.length - 1), [{ digest, size: body.length }]);
  assert.equal((await pushManifest("acme/app", "v1", indexOf(body.length))).status, 201);
});
