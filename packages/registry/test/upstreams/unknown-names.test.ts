// Thousands of names that no image has, asked of a group that stands for a registry.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { forEachConcurrently } from "../../../kernel/src/lib/for-each-concurrently.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { digestOf, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

const NAMES = sized(60, 10_000);
const CONCURRENT = 16;

test("names that nobody has make nothing here, cost three requests each, and leave the others served", async (t) => {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "hub" });
  await here.api("POST", `/registry/v2/upstreams/${group}`, { registry: hub.registry, missingTtl: "3600s" });
  const statusOf = async (path: string): Promise<number> =>
    (await here.ask("GET", `/v2/acme/hub/${path}`, { token: here.registry })).status;
  const counts = async (): Promise<number[]> => {
    const [repos, groups] = [
      await here.api<{ repos: unknown[] }>("GET", "/registry/v2/repos?page_size=200"),
      await here.api<{ groups: unknown[] }>("GET", "/iam/v2/groups?page_size=200"),
    ];
    return [repos.repos.length, groups.groups.length];
  };
  const before = await counts();
  const names = Array.from(
    { length: NAMES },
    () => `${randomBytes(4).toString("hex")}/${randomBytes(8).toString("hex")}`,
  );
  const askAll = async (): Promise<void> =>
    await forEachConcurrently(names, CONCURRENT, async (name) => {
      assert.equal(await statusOf(`${name}/manifests/1`), 404, name);
    });
  await askAll();
  // Docker Hub answers 401 for what is not there: HEAD, then GET, then GET with another token.
  assert.ok(hub.seen.length <= 3 * NAMES, `${hub.seen.length} requests for ${NAMES} names`);
  assert.deepEqual(await counts(), before, "neither repos nor groups");
  const asked = hub.seen.length;
  await askAll();
  assert.equal(hub.seen.length, asked, "what is missing is remembered");
  // Nobody asks the registry for content of an image that is not here.
  for (const name of names.slice(0, 20))
    assert.equal(await statusOf(`${name}/blobs/${digestOf(name)}`), 404, "a blob of an image that nobody has");
  hub.push("library/nginx", "1", "one");
  assert.equal(await statusOf("library/nginx/manifests/1"), 200);
});
