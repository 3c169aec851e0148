import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Groups } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type V1, v1Of } from "../support/v1/calls.ts";

const { create, delete: remove, list, update } = Groups.method;

let platform: Platform;
let v1: V1;
let organization: string;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
});
after(() => platform.close());

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field", async () => {
  const group = { name: "by-one", description: "one", verified: true };
  for (const [at, send] of [v1.rest, v1.grpc].entries()) {
    const name = `by-one-${at}`;
    const made = await send(create, { parent: organization, group: { ...group, name } });
    assert.match(String(made["id"]), new RegExp(`^${organization}/[0-9a-f]{16}$`));
    assert.deepEqual(made, { ...group, name, id: made["id"] });
    const { uid, name: ofV2, description, verified } = await platform.ok("GET", `/iam/v2/groups/${String(made["id"])}`);
    assert.deepEqual({ uid, name: ofV2, description, verified }, { uid: made["id"], ...group, name });
    assert.deepEqual(await v1.items(list, { id: uid }), [made]);
  }
  const { uid: id } = await platform.group(organization, { name: "by-two", description: "two", verified: true });
  await platform.transact((tx) =>
    tx.updateTable("groups").set({ resource_limits: '{"repos":5}' }).where("uid", "=", id).execute(),
  );
  assert.deepEqual(await v1.items(list, { id }), [
    { id, name: "by-two", description: "two", verified: true, resourceLimits: { repos: 5 } },
  ]);
});

test("an update replaces the whole, and keeps what only v2 can change", async () => {
  const { uid: id } = await platform.group(organization, { name: "whole", description: "one", verified: true });
  await platform.transact((tx) =>
    tx.updateTable("groups").set({ resource_limits: '{"repos":5}' }).where("uid", "=", id).execute(),
  );
  const replaced = { id, name: "whole-2", resourceLimits: { repos: 5 } };
  assert.deepEqual(await v1.rest(update, { id, name: "whole-2", resourceLimits: { repos: 9 } }), replaced);
  assert.deepEqual(await v1.items(list, { id }), [replaced]);
  const { description, verified, resourceLimits } = await platform.ok("GET", `/iam/v2/groups/${id}`);
  assert.deepEqual(
    { description, verified, resourceLimits },
    { description: "", verified: false, resourceLimits: { repos: 5 } },
  );
  assert.deepEqual(await v1.grpc(update, { id, name: "whole", verified: true }), {
    ...replaced,
    name: "whole",
    verified: true,
  });
});

test("a list has what its filters say, and everything without them", async () => {
  const parent = await platform.group(organization, { name: "parent" });
  const child = await platform.group(parent.uid, { name: "child" });
  const grandchild = await platform.group(child.uid, { name: "grandchild" });
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const { uid } of [parent, child, grandchild]) assert.ok(all.includes(uid));
  assert.ok(all.includes(organization));
  assert.deepEqual(await ids({ id: child.uid }), [child.uid]);
  assert.deepEqual(await ids({ id: `${organization}/0000000000000000` }), []);
  assert.deepEqual(await ids({ id: "no uid" }), []);
  assert.deepEqual(await ids({ name: "child" }), [child.uid]);
  assert.deepEqual(await ids({ uidp: { childrenOf: parent.uid } }), [child.uid]);
  assert.deepEqual(await ids({ uidp: { descendantsOf: child.uid } }), [child.uid, grandchild.uid].toSorted());
  assert.deepEqual(await ids({ uidp: { ancestorsOf: child.uid } }), [organization, parent.uid].toSorted());
  const roots = await ids({ uidp: { inRoot: true } });
  assert.ok(roots.includes(organization) && !roots.some((id) => String(id).includes("/")));
  assert.deepEqual(await ids({ uidp: { ids: [child.uid, grandchild.uid] } }), [child.uid, grandchild.uid].toSorted());
  assert.deepEqual(await ids({ id: child.uid, uidp: { ids: [child.uid, grandchild.uid] } }), [child.uid]);
  assert.deepEqual(await ids({ id: parent.uid, uidp: { ids: [child.uid] } }), []);
  assert.deepEqual(await ids({ id: child.uid, uidp: { childrenOf: child.uid } }), []);
});

test("a list that finds nothing is an empty object", async () => {
  const answer = await platform.call("GET", `/iam/v1/groups?id=${organization}/0000000000000000`, {
    token: await platform.token(),
  });
  assert.deepEqual([answer.status, answer.text], [200, "{}"]);
});

test("a group is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: id } = await platform.group(organization, { name: "gone" });
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
    assert.deepEqual(await v1.refused(update, { id, name: "gone" }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const { uid: id } = await platform.group(organization);
  assert.deepEqual(await v1.refused(create, { parent: organization, group: { name: "No!" } }), [400, "name"]);
  assert.deepEqual(await v1.refused(create, { parent: organization, group: {} }), [400, "name"]);
  assert.deepEqual(await v1.refused(update, { id }), [400, "name"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
  assert.deepEqual(await v1.blamedByGrpc(update, { name: "nothing" }), ["id"]);
});

// As by v2: without a parent it is an organization, which administrators make.
test("a group without a parent is an organization", async () => {
  const made = await v1.grpc(create, { group: { name: "company" } });
  assert.match(String(made["id"]), /^[0-9a-f]{40}$/);
  const { error } = await platform.grpc.call(create, { group: { name: "other" } }, await v1.token("viewer"));
  assert.equal(error?.code, 7);
});

test("who may do what", async () => {
  const { uid: id } = await platform.group(organization, { name: "rights" });
  await assertRights(v1, {
    list: [list, { id }],
    item: { id, name: "rights" },
    writes: [
      [create, { parent: id, group: { name: "below" } }],
      [update, { id, name: "rights" }],
      [remove, { id }],
    ],
  });
});

test("more than a page of groups is one list", async () => {
  const parent = await platform.group(organization);
  const names = Array.from({ length: 1001 }, (_, at) => `many-${at}`);
  const ids: string[] = [];
  while (names.length > 0)
    ids.push(
      ...(await Promise.all(names.splice(0, 50).map(async (name) => (await platform.group(parent.uid, { name })).uid))),
    );
  const items = await v1.items(list, { uidp: { childrenOf: parent.uid } });
  assert.deepEqual(items.map(({ id }) => id).toSorted(), ids.toSorted());
});
