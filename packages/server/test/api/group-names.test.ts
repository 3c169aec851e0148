// Names of groups have 1 to 63 characters. Groups with other names, which earlier versions made, stay as they are.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blamed, type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

const create = (name: string) =>
  platform.call("POST", `/iam/v2/groups/${platform.organization}`, { token, body: { name } });

test("a group's name has 1 to 63 characters, when it is made and when it changes", async () => {
  for (const name of ["", "a".repeat(64)]) {
    const refused = await create(name);
    assert.deepEqual([refused.status, blamed(refused)], [400, ["name"]], name);
  }
  for (const name of ["a", "qa", "a".repeat(63)]) assert.equal((await create(name)).status, 200, name);
  const { uid } = await platform.group(platform.organization, { name: "renamed" });
  const renamed = await platform.call("PATCH", `/iam/v2/groups/${uid}`, { token, body: { name: "" } });
  assert.deepEqual([renamed.status, blamed(renamed)], [400, ["name"]]);
  const short = await platform.call("PATCH", `/iam/v2/groups/${uid}`, { token, body: { name: "r" } });
  assert.deepEqual([short.status, short.body.name], [200, "r"]);
});

test("a group is not called as the URLs of libraries go on after it", async () => {
  const { uid } = await platform.group(platform.organization, { name: "renamed-again" });
  for (const name of ["-", "-rev", "simple", "legacy"]) {
    const refused = await create(name);
    assert.deepEqual([refused.status, blamed(refused)], [400, ["name"]], name);
    const renamed = await platform.call("PATCH", `/iam/v2/groups/${uid}`, { token, body: { name } });
    assert.deepEqual([renamed.status, blamed(renamed)], [400, ["name"]], name);
  }
});

test("a group whose name was allowed before is changed in all but its name", async () => {
  const { uid } = await platform.group(platform.organization, { name: "short" });
  await platform.transact((tx) =>
    tx
      .updateTable("groups")
      .set({ name: "a".repeat(64) })
      .where("uid", "=", uid)
      .execute(),
  );
  const described = await platform.call("PATCH", `/iam/v2/groups/${uid}`, { token, body: { description: "kept" } });
  assert.deepEqual([described.status, described.body.name, described.body.description], [200, "a".repeat(64), "kept"]);
  const renamed = await platform.call("PATCH", `/iam/v2/groups/${uid}`, { token, body: { name: "b".repeat(64) } });
  assert.deepEqual([renamed.status, blamed(renamed)], [400, ["name"]]);
});
