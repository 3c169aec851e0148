import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { GroupInvites } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type Item, type V1, v1Of } from "../support/v1/calls.ts";

const { create, delete: remove, list } = GroupInvites.method;

let platform: Platform;
let v1: V1;
let organization: string;
let group: string;
let role: Item;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
  group = (await platform.group(organization)).uid;
  const fields = { name: "puller", description: "pulls" };
  const { uid: id } = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    ...fields,
    capabilities: ["CAP_REPO_LIST"],
  });
  role = { id, ...fields, capabilities: ["repo.list"] };
});
after(() => platform.close());

const invite = (parent: string, fields: object = {}) =>
  platform.ok("POST", `/iam/v2/groupInvites/${parent}`, { roleUid: role["id"], ttl: "3600s", ...fields });

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const made = await send(create, {
      group,
      ttl: "3600s",
      role: role["id"] as string,
      email: "ada@example.com",
      singleUse: true,
    });
    const { id, keyId, code, expiration, ...rest } = made;
    assert.match(String(code), /^[\w-]{43}$/);
    assert.deepEqual(rest, { role });
    const ofV2 = await platform.ok("GET", `/iam/v2/groupInvites/${String(id)}`);
    assert.deepEqual(
      [ofV2["roleUid"], ofV2["email"], ofV2["singleUse"], ofV2["keyId"]],
      [role["id"], "ada@example.com", true, keyId],
    );
    assert.equal(Date.parse(String(ofV2["expirationTime"])), Date.parse(String(expiration)));
    assert.equal(Date.parse(String(expiration)), Date.parse(ofV2.createTime) + 3_600_000);
    const [item] = await v1.items(list, { id: id as string });
    assert.deepEqual(
      { ...item, createdAt: Date.parse(String(item?.["createdAt"])) },
      {
        id,
        keyId,
        expiration,
        role,
        email: "ada@example.com",
        singleUse: true,
        createdAt: Date.parse(ofV2.createTime),
      },
    );
  }
  const { uid: id, keyId, expirationTime, createTime } = await invite(group);
  const [item] = await v1.items(list, { id });
  const times = { expiration: Date.parse(String(expirationTime)), createdAt: Date.parse(createTime) };
  assert.deepEqual(
    {
      ...item,
      expiration: Date.parse(String(item?.["expiration"])),
      createdAt: Date.parse(String(item?.["createdAt"])),
    },
    { id, keyId, role, ...times },
  );
});

test("the code of v1 is accepted by v2", async () => {
  const { code } = await v1.rest(create, { group, ttl: "60s", role: role["id"] as string });
  const guest = await platform.identity(organization);
  const { status, body } = await platform.call("POST", "/iam/v2/groupInvites:accept", {
    token: await platform.token(guest),
    body: { code },
  });
  assert.equal(status, 200);
  assert.equal((body["identity"] as Item)["uid"], guest);
});

test("a list has what its filters say, and everything without them", async () => {
  const { uid: above } = await platform.group(organization);
  const { uid: below } = await platform.group(above);
  const [one, two] = [await invite(above), await invite(below)];
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const { uid } of [one, two]) assert.ok(all.includes(uid));
  assert.deepEqual(await ids({ id: one.uid }), [one.uid]);
  assert.deepEqual(await ids({ id: `${above}/0000000000000000` }), []);
  assert.deepEqual(await ids({ group: above }), [one.uid]);
  assert.deepEqual(await ids({ group: above, id: two.uid }), []);
  assert.deepEqual(await ids({ group: organization }), []);
  assert.deepEqual(await ids({ keyId: String(two["keyId"]) }), [two.uid]);
  assert.deepEqual(await ids({ keyId: String(two["keyId"]), group: above }), []);
});

test("an invite is deleted, and then there is none to delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: id } = await invite(group);
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const nothing = `${organization}/0000000000000000`;
  assert.deepEqual(await v1.refused(create, { group }), [400, "role", "ttl"]);
  assert.deepEqual(await v1.refused(create, { group, role: nothing, ttl: "60s" }), [400, "role"]);
  const all = { group, role: role["id"] as string, ttl: "60s" };
  assert.deepEqual(await v1.refused(create, { ...all, ttl: "9999999s", email: "nobody" }), [400, "email", "ttl"]);
  assert.deepEqual(await v1.refused(create, { ...all, group: nothing }), [404]);
  assert.deepEqual(await v1.blamedByGrpc(create, { ttl: "60s", role: role["id"] as string }), ["group"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
});

test("who may do what", async () => {
  const { uid: id } = await invite(group);
  const [item = {}] = await v1.items(list, { id });
  await assertRights(v1, {
    list: [list, { id }],
    item,
    writes: [
      [create, { group, ttl: "60s", role: role["id"] as string }],
      [remove, { id }],
    ],
  });
});
