import assert from "node:assert/strict";
import { test } from "node:test";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Answer, type Json, startPlatform } from "../../../server/test/support/platform.ts";

const DAY_MS = 24 * 3_600_000;

test("pulls of a deprecated repo are warned, and rejected from its end on", { timeout: 300_000 }, async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const digest = await pushImage(platform, "acme/old", "v1");
  const { repos } = await platform.ok<{ repos: Json[] }>("GET", "/registry/v2/repos?name=old");
  const uid = String(repos[0]?.uid);
  const audience = new URL(platform.url).host;
  const viewer = await platform.identity(platform.organization, "viewer");
  const pull = async (reference = "v1", { method = "GET", identity = viewer } = {}): Promise<Answer> =>
    await platform.call(method, `/v2/acme/old/manifests/${reference}`, {
      token: await platform.token(identity, { audience }),
      headers: { accept: "application/vnd.oci.image.manifest.v1+json" },
    });
  const change = (deprecation: object | null): Promise<Json> =>
    platform.ok("PATCH", `/registry/v2/repos/${uid}?updateMask=deprecation`, { deprecation });

  assert.equal((await pull()).headers["warning"], undefined);
  // It is kept in the response cache until the repo changes.
  await pull();
  await change({ message: "no longer built", replacement: "acme/new:2" });
  for (const reference of ["v1", digest, "v1"]) {
    const warned = await pull(reference);
    assert.equal(warned.status, 200);
    assert.equal(warned.headers["warning"], '299 - "acme/old is deprecated: no longer built; use acme/new:2"');
  }

  const endTime = new Date(platform.clock.nowMs() + DAY_MS).toISOString();
  await change({ message: "no longer built", endTime, block: true });
  assert.match(String((await pull()).headers["warning"]), /no longer built; pulls are rejected from 20\d\d-/);
  platform.clock.offsetMs += 2 * DAY_MS;
  for (const reference of ["v1", digest, "v1"]) {
    const blocked = await pull(reference);
    assert.equal(blocked.status, 403, reference);
    const { errors } = blocked.body as unknown as { errors: { code: string; message: string }[] };
    assert.equal(errors[0]?.code, "DENIED");
    assert.match(
      String(errors[0]?.message),
      /^acme\/old is deprecated: no longer built; pulls are rejected from 20\d\d-/,
    );
  }
  assert.equal((await pull("v1", { method: "HEAD" })).status, 403);
  // Who repairs it may push, and sees what is there before.
  await pushImage(platform, "acme/old", "v1");
  const token = await platform.token(platform.owner, { audience });
  const asked = async (method: string): Promise<number> =>
    (await platform.call(method, "/v2/acme/old/manifests/v1", { token })).status;
  assert.deepEqual([await asked("HEAD"), await asked("GET")], [200, 403], "what it sees is no answer to a pull");

  await change(null);
  const open = await pull();
  assert.deepEqual([open.status, open.headers["warning"]], [200, undefined]);
  const wrong = await platform.call("PATCH", `/registry/v2/repos/${uid}?updateMask=deprecation`, {
    token: await platform.token(),
    body: { deprecation: { replacement: "No Image" } },
  });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /deprecation\.replacement/);
});
