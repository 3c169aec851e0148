import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { ExternalGroupRoleMappings } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type Item, type V1, v1Of } from "../support/v1/calls.ts";

const { batchDelete, create, delete: remove, get, list } = ExternalGroupRoleMappings.method;

let platform: Platform;
let v1: V1;
let organization: string;
let role: string;
let provider: string;
let count = 0;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
  role = await platform.role("viewer");
  provider = await newProvider(organization);
});
after(() => platform.close());

async function newProvider(group: string): Promise<string> {
  const oidc = { issuer: "https://login.example.com", clientId: "moorage" };
  return (await platform.ok("POST", `/iam/v2/identityProviders/${group}`, { name: `p-${(count += 1)}`, oidc })).uid;
}

/** A mapping that v2 makes, as v1 has it. */
async function made(parent = provider, scope = organization): Promise<Item & { id: string }> {
  const fields = { externalGroupId: `team-${(count += 1)}`, scope };
  const { uid, createTime } = await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${parent}`, {
    ...fields,
    roleUid: role,
  });
  return { id: uid, identityProviderUidp: parent, ...fields, roleUidp: role, createdAt: createTime };
}

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const mapping = { externalGroupId: `engineers-${(count += 1)}`, roleUidp: role, scope: organization };
    const made = await send(create, { parentId: provider, mapping });
    const { id, createdAt, ...rest } = made;
    assert.deepEqual(rest, { ...mapping, identityProviderUidp: provider });
    const ofV2 = await platform.ok("GET", `/iam/v2/externalGroupRoleMappings/${String(id)}`);
    assert.deepEqual(
      { ...ofV2, createTime: Date.parse(ofV2.createTime) },
      {
        uid: id,
        identityProviderUid: provider,
        externalGroupId: mapping.externalGroupId,
        roleUid: role,
        scope: organization,
        createTime: Date.parse(String(createdAt)),
      },
    );
    assert.deepEqual(await v1.read(get, { uid: id as string }), made);
  }
  const item = await made();
  assert.deepEqual(await v1.read(get, { uid: item.id }), item);
  assert.deepEqual(await v1.items(list, { uidp: { ids: [item.id] } }), [item]);
});

test("a list has what its filters say, and everything without them", async () => {
  const { uid: group } = await platform.group(organization);
  const other = await newProvider(group);
  const [one, two] = [(await made()).id, (await made(other, group)).id];
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const id of [one, two]) assert.ok(all.includes(id));
  assert.deepEqual(await ids({ identityProviderUidp: other }), [two]);
  assert.deepEqual(await ids({ identityProviderUidp: `${group}/0000000000000000` }), []);
  assert.deepEqual(await ids({ uidp: { descendantsOf: group } }), [two]);
  assert.deepEqual(await ids({ uidp: { childrenOf: other } }), [two]);
  assert.deepEqual(await ids({ uidp: { ids: [one, two] } }), [one, two].toSorted());
  assert.deepEqual(await ids({ identityProviderUidp: other, uidp: { ids: [one] } }), []);
});

test("a mapping is deleted, and then there is none to get or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { id } = await made();
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.refused(get, { uid: id }), [404]);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
  }
});

test("a batch deletes what there is, and answers it", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const [one, two, three] = [await made(), await made(), await made()];
    await v1.rest(remove, { id: two.id });
    assert.deepEqual(await send(batchDelete, { parentId: provider, ids: [one.id, two.id, three.id] }), {
      parentId: provider,
      items: [one, three],
    });
    assert.deepEqual(await v1.items(list, { uidp: { ids: [one.id, two.id, three.id] } }), []);
  }
  const { id } = await made();
  const wrong = [id, `${organization}/0000000000000000`];
  assert.deepEqual(await v1.refused(batchDelete, { parentId: provider, ids: wrong }), [400, "ids[1]"]);
  assert.deepEqual(await v1.refused(batchDelete, { parentId: provider, ids: [id, id] }), [400, "ids"]);
  assert.deepEqual(await v1.refused(batchDelete, { parentId: provider }), [400, "ids"]);
  assert.deepEqual(await v1.refused(batchDelete, { ids: [id] }), [400, "parentId"]);
  assert.equal((await v1.items(list, { uidp: { ids: [id] } })).length, 1);
});

test("errors have v1's names of fields", async () => {
  const nothing = `${organization}/0000000000000000`;
  const mapping = { externalGroupId: "errors", roleUidp: role, scope: organization };
  assert.deepEqual(await v1.refused(create, { parentId: provider, mapping: {} }), [
    400,
    "externalGroupId",
    "roleUidp",
    "scope",
  ]);
  assert.deepEqual(await v1.refused(create, { parentId: provider, mapping: { ...mapping, roleUidp: nothing } }), [
    400,
    "roleUidp",
  ]);
  assert.deepEqual(await v1.refused(create, { parentId: nothing, mapping }), [404]);
  assert.deepEqual(await v1.blamedByGrpc(create, { mapping }), ["parentId"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
  assert.deepEqual(await v1.blamedByGrpc(get, {}), ["uid"]);
});

test("who may do what", async () => {
  const item = await made();
  const { id } = item;
  const request = { uidp: { ids: [id] } };
  await assertRights(v1, {
    list: [list, request],
    item,
    writes: [
      [create, { parentId: provider, mapping: { externalGroupId: "more", roleUidp: role, scope: organization } }],
      [batchDelete, { parentId: provider, ids: [id] }],
      [remove, { id }],
    ],
  });
  assert.deepEqual(await v1.refused(get, { uid: id }, "none"), [401]);
  assert.deepEqual(await v1.refused(get, { uid: id }, "stranger"), [404]);
  assert.deepEqual(await v1.read(get, { uid: id }, "viewer"), item);
});
