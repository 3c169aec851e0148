import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SyncState } from "@moorage/api";
import { Registry } from "@moorage/api/v1/registry";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";

const { getSyncStatus, listSyncStatuses } = Registry.method;
const MANY = 1_200;
// The mirrors of these tests are never due.
const NEXT_MS = Date.UTC(2999, 0, 1);
const ATTEMPT_MS = Date.UTC(2026, 0, 1);
const SUCCESS_MS = Date.UTC(2025, 0, 1);

describe("the copying of repos by v1", () => {
  let platform: Platform;
  let token = "";
  let group = "";
  before(async () => {
    platform = await startPlatform();
    token = await platform.token();
    group = (await platform.group(platform.organization, { name: "mirrors" })).uid;
  });
  after(() => platform.close());

  /** Makes the repos look as ones whose copying is in that state. */
  const copying = async (state: SyncState, ...repos: string[]): Promise<void> => {
    const rows = repos.map((repo) => ({
      repo,
      actor: "",
      password: "",
      next_time: NEXT_MS,
      holder: "",
      hold_until: 0,
      state,
      message: "",
      attempt_time: ATTEMPT_MS,
      success_time: SUCCESS_MS,
      tags_seen: 0,
      manifests_copied: 0,
      bytes_copied: 0,
      failures: 0,
    }));
    await platform.transact(async (tx) => {
      for (let at = 0; at < rows.length; at += 200)
        await tx
          .insertInto("mirrors")
          .values(rows.slice(at, at + 200))
          .execute();
    });
  };
  const statusOf = async (repoId: string): Promise<object> =>
    (await both(platform, getSyncStatus, { repoId }, token)).body;
  const listed = async (registryId: string): Promise<Json[]> =>
    ((await both(platform, listSyncStatuses, { registryId }, token)).body["items"] ?? []) as Json[];

  test("every state has its status and the time at which it began", async () => {
    const inner = await platform.group(group, { name: "inner" });
    const expected: [SyncState, object][] = [
      [SyncState.PENDING, { status: "QUEUED", createTime: "2999-01-01T00:00:00.000Z" }],
      [SyncState.RUNNING, { status: "IN_PROGRESS", createTime: "2026-01-01T00:00:00.000Z" }],
      [SyncState.SUCCEEDED, { createTime: "2025-01-01T00:00:00.000Z" }],
      [SyncState.FAILED, { status: "FAILED", createTime: "2026-01-01T00:00:00.000Z" }],
      [SyncState.RATE_LIMITED, { status: "QUEUED", createTime: "2026-01-01T00:00:00.000Z" }],
    ];
    const items: Record<string, object> = {};
    for (const [at, [state, status]] of expected.entries()) {
      const { uid } = await platform.repo(at % 2 === 0 ? group : inner.uid, { name: `state-${state}` });
      await copying(state, uid);
      assert.deepEqual(await statusOf(uid), status, `state ${state}`);
      items[uid] = status;
    }
    const { uid: plain } = await platform.repo(group, { name: "plain" });
    assert.deepEqual(await statusOf(plain), {});
    const found = await listed(group);
    assert.deepEqual(Object.fromEntries(found.map((each) => [each["repoId"], each["repoStatus"]])), items);
    assert.deepEqual(await listed(""), found);
    assert.equal((await listed(inner.uid)).length, 2);
    for (const nothing of [`${group}/0123456789abcdef`, "wrong", plain]) assert.deepEqual(await listed(nothing), []);
  });

  test("a repo whose source was just set is queued or copied", async () => {
    await platform.repo(platform.organization, { name: "origin" });
    const made = await platform.ok("POST", `/registry/v1/repos/${platform.organization}`, {
      name: "copy",
      syncConfig: { source: `${platform.bootstrap.organization.name}/origin` },
    });
    const { status = "UNKNOWN", createTime } = await platform.ok(
      "GET",
      `/registry/v1/repos/${String(made["id"])}:syncstatus`,
    );
    // It may be that its turn has come and is over.
    assert.ok(["QUEUED", "IN_PROGRESS", "UNKNOWN"].includes(String(status)), String(status));
    assert.match(createTime, /^20/);
  });

  test("a repo that is not there is not found", async () => {
    for (const repoId of [`${group}/0123456789abcdef`, "wrong"])
      assert.equal((await both(platform, getSyncStatus, { repoId }, token)).status, 404);
  });

  test(`${MANY} repos are one list, which another group's members do not see`, async () => {
    const { uid: many } = await platform.group(platform.organization, { name: "many" });
    const repos = Array.from({ length: MANY }, () => newUid(many)).toSorted();
    await copying(SyncState.FAILED, ...repos);
    const found = await listed(many);
    assert.deepEqual(
      found.map((each) => each["repoId"]),
      repos,
    );
    const member = await platform.token(await platform.identity(group, "viewer"));
    const stranger = await platform.token(await platform.identity(platform.organization));
    assert.equal((await both(platform, listSyncStatuses, { registryId: many }, member)).text, "{}");
    assert.notEqual((await both(platform, listSyncStatuses, { registryId: group }, member)).text, "{}");
    assert.equal((await both(platform, listSyncStatuses, {}, stranger)).text, "{}");
    assert.equal((await both(platform, listSyncStatuses, {})).status, 401);
    assert.equal((await both(platform, getSyncStatus, { repoId: String(found[0]?.["repoId"]) }, member)).status, 404);
  });
});
