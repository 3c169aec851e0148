// Images of other registries that are served only when they have been known for a while.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { type Answer, digestOf, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { openTestStore } from "../../../server/test/support/database.ts";

const DAY_MS = 24 * 3_600_000;

test("a young digest waits, its tag answers the newest old one, and what belongs to an image follows it", async (t) => {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "hub" });
  const { uid } = await here.api("POST", `/registry/v2/upstreams/${group}`, {
    registry: hub.registry,
    cooldown: "604800s",
    tagTtl: "0s",
  });
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  const pull = (path: string): Promise<Answer> =>
    here.ask("GET", `/v2/acme/hub/nginx/${path}`, { token: here.registry });
  /** Makes all that is known known for so many days longer. */
  const age = async (days: number): Promise<void> => {
    for (const table of ["upstream_digests", "upstream_sightings"] as const)
      await db
        .updateTable(table)
        .set((eb) => ({ seen_time: eb("seen_time", "-", days * DAY_MS) }))
        .execute();
  };
  const arms = ["amd64", "arm64"].map((each) => hub.push("nginx", [], each));
  const one = hub.pushIndex("nginx", "1", arms);
  const child = arms[1]?.digest ?? "";
  for (const path of ["manifests/1", `manifests/${one.digest}`, `manifests/${child}`]) {
    const young = await pull(path);
    assert.equal(young.status, 403, path);
    assert.match(young.json.message, /nginx[:@]\S+ is too young: opens at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  }
  await here.api("PATCH", `/registry/v2/upstreams/${uid}`, { allowedDigests: [one.digest] });
  for (const [path, digest] of [
    ["manifests/1", one.digest],
    [`manifests/${one.digest}`, one.digest],
    [`manifests/${child}`, child],
  ] as const) {
    const allowed = await pull(path);
    assert.deepEqual([allowed.status, digestOf(allowed.text)], [200, digest], path);
  }
  await here.api("PATCH", `/registry/v2/upstreams/${uid}`, { allowedDigests: [] });
  assert.equal((await pull("manifests/1")).status, 403);
  await age(8);
  assert.equal(digestOf((await pull("manifests/1")).text), one.digest);
  assert.equal(digestOf((await pull(`manifests/${child}`)).text), child);

  // A tag that moves every few days still comes, by what it was a week ago.
  assert.equal((await pull("manifests/1")).headers.get("warning"), null);
  const two = hub.push("nginx", "1", "two");
  // What has been looked up is an hour, or, here, a moment old.
  for (const tagTtl of ["0s", "3600s"]) {
    await here.api("PATCH", `/registry/v2/upstreams/${uid}`, { tagTtl });
    const held = await pull("manifests/1");
    assert.equal(digestOf(held.text), one.digest);
    assert.match(
      held.headers.get("warning") ?? "",
      /^299 - "127\.0\.0\.1:\d+ has a newer nginx:1, which is too young: opens at \d{4}-\d\d-\d\dT[\d:]{8}Z"$/,
    );
  }
  await here.api("PATCH", `/registry/v2/upstreams/${uid}`, { tagTtl: "0s" });
  assert.equal((await pull(`manifests/${two.digest}`)).status, 403);
  await age(5);
  const three = hub.push("nginx", "1", "three");
  assert.equal(digestOf((await pull("manifests/1")).text), one.digest);
  await age(3);
  await eventually(async () => digestOf((await pull("manifests/1")).text) === two.digest);
  assert.equal((await pull(`manifests/${three.digest}`)).status, 403);
  await age(8);
  await eventually(async () => digestOf((await pull("manifests/1")).text) === three.digest);
  assert.equal((await pull("manifests/1")).headers.get("warning"), null);
});
