import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CapabilitySchema, other_name, v1_name } from "@moorage/api";
import { type JsonObject, getOption } from "@bufbuild/protobuf";
import { Roles } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type V1, v1Of } from "../support/v1/calls.ts";

const { create, delete: remove, list, update } = Roles.method;

let platform: Platform;
let v1: V1;
let organization: string;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
});
after(() => platform.close());

const made = (name: string, fields: object = {}) =>
  platform.ok("POST", `/iam/v2/roles/${organization}`, { name, capabilities: ["CAP_REPO_LIST"], ...fields });

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field", async () => {
  for (const [at, send] of [v1.rest, v1.grpc].entries()) {
    const role = { name: `by-one-${at}`, description: "one", capabilities: ["repo.list", "tag.update"] };
    const item = await send(create, { parentId: organization, role });
    assert.deepEqual(item, { ...role, id: item["id"] });
    const { uid, name, description, capabilities } = await platform.ok("GET", `/iam/v2/roles/${String(item["id"])}`);
    assert.deepEqual(
      { uid, name, description, capabilities },
      { uid: item["id"], name: role.name, description: "one", capabilities: ["CAP_REPO_LIST", "CAP_TAG_UPDATE"] },
    );
    assert.deepEqual(await v1.items(list, { id: uid }), [item]);
  }
  const { uid: id } = await made("by-two", { description: "two" });
  assert.deepEqual(await v1.items(list, { id }), [
    { id, name: "by-two", description: "two", capabilities: ["repo.list"] },
  ]);
});

test("every capability has the name by which it can be written", async () => {
  const names = CapabilitySchema.values
    .filter(({ number }) => number > 0)
    .map((value) => getOption(value, v1_name) || getOption(value, other_name) || value.name);
  assert.ok(names.includes("repo.list") && names.includes("vuln_report.list"));
  const item = await v1.rest(create, { parentId: organization, role: { name: "everything", capabilities: names } });
  assert.deepEqual(item["capabilities"], names);
});

test("capabilities of libraries have a second name, which v1 writes and everything reads", async () => {
  const second = ["java", "python", "javascript"].flatMap((each) => [
    `libraries.${each}.list`,
    `libraries.${each}.create`,
  ]);
  const first = ["java", "python", "javascript"].flatMap((each) => [
    `libraries.${each}.read`,
    `libraries.${each}.publish`,
  ]);
  const numbers = ["JAVA", "PYTHON", "JAVASCRIPT"].flatMap((each) => [
    `CAP_LIBRARIES_${each}_READ`,
    `CAP_LIBRARIES_${each}_PUBLISH`,
  ]);
  for (const [at, capabilities] of [first, second].entries()) {
    const item = await v1.rest(create, { parentId: organization, role: { name: `libraries-${at}`, capabilities } });
    assert.deepEqual((item["capabilities"] as string[]).toSorted(), second.toSorted());
    const { capabilities: stored } = await platform.ok("GET", `/iam/v2/roles/${String(item["id"])}`);
    assert.deepEqual((stored as string[]).toSorted(), numbers.toSorted());
    const ofV2 = await made(`libraries-v2-${at}`, { capabilities });
    assert.deepEqual((ofV2["capabilities"] as string[]).toSorted(), numbers.toSorted());
  }
});

test("an update replaces the whole", async () => {
  const { uid: id } = await made("whole", { description: "one" });
  assert.deepEqual(await v1.rest(update, { id, name: "whole" }), { id, name: "whole" });
  const { description, capabilities } = await platform.ok("GET", `/iam/v2/roles/${id}`);
  assert.deepEqual({ description, capabilities }, { description: "", capabilities: [] });
  const full = { id, name: "whole-2", description: "two", capabilities: ["tag.list"] };
  assert.deepEqual(await v1.grpc(update, full), full);
});

test("a list has what its filters say, the built-in roles among them", async () => {
  const group = await platform.group(organization);
  const { uid: own } = await made("filtered");
  const { uid: below } = await platform.ok("POST", `/iam/v2/roles/${group.uid}`, { name: "filtered" });
  const viewer = await platform.role("viewer");
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const uid of [own, below, viewer]) assert.ok(all.includes(uid));
  assert.deepEqual(await ids({ id: own }), [own]);
  assert.deepEqual(await ids({ id: `${organization}/0000000000000000` }), []);
  assert.deepEqual(await ids({ name: "filtered" }), [own, below].toSorted());
  assert.deepEqual(await ids({ name: "filtered", parent: organization }), [own]);
  assert.deepEqual(await ids({ parent: group.uid }), [below]);
  assert.deepEqual(await ids({ parent: group.uid, uidp: { childrenOf: organization } }), []);
  assert.deepEqual(await ids({ uidp: { descendantsOf: group.uid } }), [below]);
  assert.deepEqual(await ids({ uidp: { ids: [own, viewer] } }), [own, viewer].toSorted());
  assert.deepEqual(await ids({ name: "viewer", uidp: { inRoot: true } }), [viewer]);
  const builtIn = await ids({ uidp: { inRoot: true } });
  assert.ok(builtIn.length > 5 && builtIn.includes(viewer));
  assert.deepEqual(await ids({ parent: "/" }), builtIn);
  assert.deepEqual(await ids({ parent: "/", name: "viewer" }), [viewer]);
  assert.deepEqual(await ids({ parent: "/", name: "filtered" }), []);
  assert.deepEqual(await ids({ parent: "/", uidp: { childrenOf: organization } }), []);
});

test("a role is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: id } = await made("gone");
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
    assert.deepEqual(await v1.refused(update, { id, name: "gone" }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const wrong = { name: "wrong", capabilities: ["repo.list", "nothing", "CAP_NOTHING"] };
  assert.deepEqual(await v1.refused(create, { parentId: organization, role: wrong }), [
    400,
    "capabilities[1]",
    "capabilities[2]",
  ]);
  assert.deepEqual(await v1.refused(create, { parentId: organization, role: { name: "No!" } }), [400, "name"]);
  assert.deepEqual(await v1.blamedByGrpc(create, { role: { name: "nowhere" } }), ["parentId"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
});

test("who may do what", async () => {
  const { uid: id } = await made("rights");
  await assertRights(v1, {
    list: [list, { id }],
    item: { id, name: "rights", capabilities: ["repo.list"] },
    writes: [
      [create, { parentId: organization, role: { name: "more" } }],
      [update, { id, name: "rights" }],
      [remove, { id }],
    ],
  });
});
