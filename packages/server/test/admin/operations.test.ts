import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlatform } from "../support/platform.ts";

const PATHS = ["jobs", "feeds", "garbage", "installation"].map((name) => `/operations/v2/${name}`);

test("operators see jobs, feeds and the installation, and nobody else does", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { organization, bootstrap } = platform;
  const nowMs = platform.clock.nowMs();
  const leases = {
    idle: { holder: "a", untilMs: 0, dueMs: nowMs + 60_000 },
    busy: { holder: "b", untilMs: nowMs + 60_000, dueMs: 0 },
  };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("installation")
      .values(
        Object.entries(leases).map(([name, lease]) => ({ key: `lease:test-${name}`, value: JSON.stringify(lease) })),
      )
      .execute();
  });
  const { jobs } = await platform.ok<{ jobs: Record<string, string>[] }>("GET", "/operations/v2/jobs");
  const [busy, idle] = ["busy", "idle"].map((name) => jobs.find((job) => job["name"] === `test-${name}`));
  assert.deepEqual([busy?.["holder"], busy?.["dueTime"] ?? null, idle?.["leaseUntilTime"] ?? null], ["b", null, null]);
  assert.ok(busy?.["leaseUntilTime"] !== undefined && idle?.["dueTime"] !== undefined);
  assert.deepEqual((await platform.ok("GET", "/operations/v2/feeds"))["feeds"], []);

  const { uid: repo } = await platform.repo(organization);
  await platform.tag(repo);
  const found = await platform.ok("GET", "/operations/v2/installation");
  assert.match(String(found["version"]), /^\d+\.\d+\.\d+/);
  assert.ok(["sqlite", "postgres"].includes(String(found["engine"])));
  assert.deepEqual(
    [found["blobStore"], found["organizations"], found["repos"], found["tags"]],
    ["files", "2", "1", "1"],
  );

  const elsewhere = bootstrap.publicOrganization.uid;
  const { uid: group } = await platform.group(organization);
  for (const identity of [
    await platform.identity(organization, "viewer"),
    await platform.identity(organization, "auditor"),
    await platform.identity(elsewhere, "owner"),
    await platform.identity(group, "owner"),
  ])
    for (const path of PATHS) {
      const { status } = await platform.call("GET", path, { token: await platform.token(identity) });
      assert.equal(status, 403, path);
    }
  const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    name: "operator",
    capabilities: ["CAP_OPERATIONS_LIST"],
  });
  const operator = await platform.identity(organization);
  await platform.bind(organization, operator, role.uid);
  for (const path of PATHS)
    assert.equal((await platform.call("GET", path, { token: await platform.token(operator) })).status, 200, path);
});
