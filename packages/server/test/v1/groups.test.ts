import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";

interface Items {
  items?: Record<string, unknown>[];
}

describe("groups and roles by v1", () => {
  let platform: Platform;
  before(async () => {
    platform = await startPlatform();
  });
  after(() => platform.close());

  const asked = async (method: string, path: string, body?: unknown): Promise<Items & Record<string, unknown>> =>
    (await platform.ok(method, path, body)) as unknown as Items & Record<string, unknown>;

  test("a group is made, listed, replaced and deleted", async () => {
    const { organization } = platform;
    const made = await asked("POST", `/iam/v1/groups/${organization}`, { name: "team", description: "one" });
    assert.match(String(made["id"]), new RegExp(`^${organization}/[0-9a-f]{16}$`));
    assert.deepEqual(made, { id: made["id"], name: "team", description: "one" });
    assert.deepEqual(await asked("GET", `/iam/v1/groups?id=${String(made["id"])}`), { items: [made] });
    const replaced = await asked("PUT", `/iam/v1/groups/${String(made["id"])}`, { name: "team", verified: true });
    assert.deepEqual(replaced, { id: made["id"], name: "team", verified: true });
    assert.equal((await platform.ok("GET", `/iam/v2/groups/${String(made["id"])}`)).description, "");
    await platform.ok("DELETE", `/iam/v1/groups/${String(made["id"])}`);
    assert.deepEqual(await asked("GET", `/iam/v1/groups?id=${String(made["id"])}`), {});
  });

  test("more than a page of groups is one list", async () => {
    const parent = await platform.group(platform.organization);
    const names = Array.from({ length: 1001 }, (_, at) => `many-${at}`);
    const ids: string[] = [];
    while (names.length > 0)
      ids.push(
        ...(await Promise.all(
          names.splice(0, 50).map(async (name) => (await platform.group(parent.uid, { name })).uid),
        )),
      );
    const { items = [] } = await asked("GET", `/iam/v1/groups?uidp.childrenOf=${parent.uid}`);
    assert.deepEqual(items.map(({ id }) => id).toSorted(), ids.toSorted());
  });

  test("a role has its capabilities by name", async () => {
    const made = await asked("POST", `/iam/v1/roles/${platform.organization}`, {
      name: "reader",
      capabilities: ["repo.list", "tag.list"],
    });
    assert.deepEqual(made["capabilities"], ["repo.list", "tag.list"]);
    const wrong = await platform.call("POST", `/iam/v1/roles/${platform.organization}`, {
      token: await platform.token(),
      body: { name: "wrong", capabilities: ["repo.list", "nothing"] },
    });
    assert.equal(wrong.status, 400);
    assert.equal(wrong.body.message, "Invalid argument: capabilities[1]: must be a capability, as repo.list");
  });
});
