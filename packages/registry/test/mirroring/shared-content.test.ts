import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf } from "../../../server/test/support/installation.ts";
import { startFakeSource } from "../../../server/test/support/fake-source.ts";
import { startPair } from "../../../server/test/support/mirror.ts";

test("what another repo has of the same registry is linked, and not fetched again", async (t) => {
  const { upstream, front, here, configOf, mirror, copied } = await startPair(t);
  const { layer: shared } = await upstream.pushImage("acme/one", "v1", "shared");
  await upstream.pushImage("acme/other", "v1", "shared");
  const { layer } = await upstream.pushImage("acme/other", "v2", "own");
  for (const name of ["one", "other"])
    assert.equal((await copied(await mirror(name, configOf(name)))).state, "SYNC_STATE_SUCCEEDED");
  const gets = (digest: string): number =>
    front.seen.filter(({ method, path }) => method === "GET" && path.endsWith(`/blobs/${digest}`)).length;
  assert.deepEqual([gets(shared), gets(layer)], [1, 1]);
  const { status, text } = await here.ask("GET", `/v2/acme/other/blobs/${shared}`, { token: here.registry });
  assert.deepEqual([status, digestOf(text)], [200, shared]);
});

test("a source gets nothing by its claim: not of another registry, nor what it does not have", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const secret = await upstream.pushImage("acme/private", "v1", "somebody else's secret");
  assert.equal((await copied(await mirror("private", configOf("private")))).state, "SYNC_STATE_SUCCEEDED");
  // A registry that names the digest, and answers HEAD as if it had it.
  const imageOf = await startFakeSource(t);
  const claims = imageOf("claims");
  const text = (await upstream.ask("GET", `/v2/acme/private/blobs/${secret.layer}`, { token: upstream.registry })).text;
  const { layer } = claims.push(text, { tags: ["v1"] });
  assert.equal(layer, secret.layer);
  claims.misbehave = ({ method, path, res }) => {
    if (path !== `blobs/${layer}` || method === "HEAD") return false;
    res.writeHead(404).end();
    return true;
  };
  const thief = await mirror("claims", { source: claims.source });
  assert.equal((await copied(thief)).state, "SYNC_STATE_FAILED");
  const ask = (name: string) => here.ask("GET", `/v2/acme/${name}/blobs/${layer}`, { token: here.registry });
  assert.equal((await ask("claims")).status, 404);
  // The same registry, another image of it that names the layer and does not have it.
  const honest = imageOf("honest");
  honest.push("of its own", { tags: ["v1"] });
  assert.equal((await copied(await mirror("honest", { source: honest.source }))).state, "SYNC_STATE_SUCCEEDED");
  const naming = imageOf("naming");
  const named = naming.push("of its own", { tags: ["v1"] });
  naming.blobs.delete(named.layer);
  assert.equal((await copied(await mirror("naming", { source: naming.source }))).state, "SYNC_STATE_FAILED");
  const answer = await here.ask("GET", `/v2/acme/naming/blobs/${named.layer}`, { token: here.registry });
  assert.equal(answer.status, 404);
});
