import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { RoleBindings } from "@moorage/api/v1/iam";
import { blamed, type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type Item, type V1, v1Of } from "../support/v1/calls.ts";

const { create, createBatch, delete: remove, list, update } = RoleBindings.method;

let platform: Platform;
let v1: V1;
let organization: string;
let group: string;
let role: string;
let identity: string;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
  group = (await platform.group(organization, { name: "team", description: "the team", verified: true })).uid;
  role = (
    await platform.ok("POST", `/iam/v2/roles/${organization}`, {
      name: "puller",
      description: "pulls",
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
    })
  ).uid;
  identity = await claimed("bound");
});
after(() => platform.close());

async function claimed(subject: string): Promise<string> {
  const claimMatch = { issuer: "https://issuer.example.com", subject };
  return (await platform.ok("POST", `/iam/v2/identities/${organization}`, { name: subject, claimMatch })).uid;
}

/** What v2 answers for a binding: who has what, where. */
async function ofV2(id: unknown): Promise<Item> {
  const { uid, identity, group, role } = await platform.ok("GET", `/iam/v2/roleBindings/${String(id)}`);
  const [who, where, what] = [identity, group, role].map((bound) => (bound as Item)["uid"]);
  return { id: uid, identity: who, group: where, role: what };
}

test("v2 has what v1 wrote, in every field; the group is the one in the path", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const made = await send(create, { parent: group, roleBinding: { identity, role, group: organization } });
    assert.deepEqual(made, { id: made["id"], identity, role, group });
    assert.match(String(made["id"]), new RegExp(`^${group}/[0-9a-f]{16}$`));
    assert.deepEqual(await ofV2(made["id"]), made);
  }
});

test("a list has what v2 wrote, with group, role and identity", async () => {
  const id = await platform.bind(group, identity, role);
  const { createTime } = await platform.ok("GET", `/iam/v2/roleBindings/${id}`);
  await platform.transact((tx) =>
    tx.updateTable("groups").set({ resource_limits: '{"repos":5}' }).where("uid", "=", group).execute(),
  );
  const hydrated = {
    id,
    group: { id: group, name: "team", description: "the team", verified: true, resourceLimits: { repos: 5 } },
    identity,
    role: { id: role, name: "puller", description: "pulls", capabilities: ["repo.list", "tag.list"] },
    claimMatchIssuer: "https://issuer.example.com",
    claimMatchSubject: "bound",
    // A time without its zeros, as the library writes it.
    createdAt: createTime.replace(".000Z", "Z"),
  };
  assert.deepEqual(await v1.items(list, { id }), [hydrated]);
  await platform.transact((tx) =>
    tx
      .updateTable("identities")
      .set({ email: "ada@example.com", email_unverified: "ada@elsewhere.example.com" })
      .where("uid", "=", identity)
      .execute(),
  );
  assert.deepEqual(await v1.items(list, { id }), [
    { ...hydrated, email: "ada@example.com", emailUnverified: "ada@elsewhere.example.com" },
  ]);
});

test("a list has the names alone of groups and roles that the caller may not list", async () => {
  const { uid: bindings } = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    name: "bindings",
    capabilities: ["CAP_IAM_ROLE_BINDINGS_LIST"],
  });
  const reader = await platform.identity(organization);
  const id = await platform.bind(group, reader, bindings);
  const { status, body } = await platform.call("GET", `/iam/v1/rolebindings?id=${id}`, {
    token: await platform.token(reader),
  });
  assert.equal(status, 200);
  const [{ createdAt, ...item } = {}] = body["items"] as Item[];
  assert.ok(createdAt);
  assert.deepEqual(item, {
    id,
    group: { id: group, name: "team", description: "the team" },
    identity: reader,
    role: { id: bindings, name: "bindings" },
  });
});

test("a batch is made as a whole, or not at all", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: parent } = await platform.group(organization);
    const given = [
      { identity, role },
      { identity: platform.owner, role },
    ];
    const { roleBindings } = await send(createBatch, { parent, roleBindings: given });
    const made = roleBindings as Item[];
    assert.deepEqual(
      made,
      given.map((each, at) => ({ ...each, group: parent, id: made[at]?.["id"] })),
    );
    for (const each of made) assert.deepEqual(await ofV2(each["id"]), each);
    const wrong = [...given, { identity: `${organization}/0000000000000000`, role }, { role }];
    assert.deepEqual(await v1.refused(createBatch, { parent, roleBindings: wrong.slice(0, 3) }), [
      400,
      "roleBindings[2].identity",
    ]);
    assert.deepEqual(await v1.refused(createBatch, { parent, roleBindings: wrong.toSpliced(2, 1) }), [
      400,
      "roleBindings[2].identity",
    ]);
    assert.equal((await v1.items(list, { uidp: { childrenOf: parent } })).length, 2);
  }
  assert.deepEqual(await v1.refused(createBatch, { parent: group, roleBindings: [] }), [400, "roleBindings"]);
  const many = Array.from({ length: 26 }, () => ({ identity, role }));
  assert.deepEqual(await v1.refused(createBatch, { parent: group, roleBindings: many }), [400, "roleBindings"]);
  assert.deepEqual(await v1.blamedByGrpc(createBatch, { roleBindings: [{ identity, role }] }), ["parent"]);
  const token = await platform.token();
  for (const [body, field] of [
    [{ roleBindings: [] }, "roleBindings"],
    [[{ identity, role, bogus: 1 }], "roleBindings[0].bogus"],
    [[null], "roleBindings[0]"],
  ] as const) {
    const answer = await platform.call("POST", `/iam/v1/rolebindings/batch/${group}`, { token, body });
    assert.deepEqual([answer.status, ...blamed(answer)], [400, field]);
  }
});

test("an update replaces identity and role, and no binding moves to another group", async () => {
  const id = await platform.bind(group, identity, role);
  const viewer = await platform.role("viewer");
  for (const [send, replaced] of [
    [v1.rest, { identity: platform.owner, role: viewer }],
    [v1.grpc, { identity, role }],
  ] as const) {
    const item = { id, ...replaced, group };
    assert.deepEqual(await send(update, { id, ...replaced, group: organization }), item);
    assert.deepEqual(await ofV2(id), item);
  }
  assert.deepEqual(await v1.refused(update, { id, identity }), [400, "role"]);
  assert.deepEqual(await v1.refused(update, { id, role }), [400, "identity"]);
  assert.deepEqual(await ofV2(id), { id, identity, role, group });
});

test("a list has what its filters say, and everything without them", async () => {
  const { uid: above } = await platform.group(organization);
  const { uid: below } = await platform.group(above);
  const [one, two] = [await platform.bind(above, identity, role), await platform.bind(below, identity, role)];
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const id of [one, two]) assert.ok(all.includes(id));
  assert.deepEqual(await ids({ id: one }), [one]);
  assert.deepEqual(await ids({ id: `${above}/0000000000000000` }), []);
  assert.deepEqual(await ids({ uidp: { childrenOf: above } }), [one]);
  assert.deepEqual(await ids({ uidp: { descendantsOf: above } }), [one, two].toSorted());
  assert.deepEqual(await ids({ uidp: { ids: [one, two] } }), [one, two].toSorted());
  assert.deepEqual(await ids({ id: two, uidp: { ids: [one] } }), []);
  assert.deepEqual(await ids({ uidp: { inRoot: true } }), []);
});

test("more than a page of bindings is one list, each with its group, role and identity", async () => {
  const { uid: parent } = await platform.group(organization, { name: "many" });
  const roleBindings = Array.from({ length: 25 }, () => ({ identity, role }));
  for (let at = 0; at < 41; at += 1) await v1.grpc(createBatch, { parent, roleBindings });
  const items = await v1.items(list, { uidp: { childrenOf: parent } });
  assert.equal(new Set(items.map(({ id }) => id)).size, 1025);
  for (const item of items)
    assert.deepEqual(
      [item["identity"], (item["group"] as Item)["name"], (item["role"] as Item)["capabilities"]],
      [identity, "many", ["repo.list", "tag.list"]],
    );
});

test("a binding is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const id = await platform.bind(group, identity, role);
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
    assert.deepEqual(await v1.refused(update, { id, identity, role }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const nobody = `${organization}/0000000000000000`;
  assert.deepEqual(await v1.refused(create, { parent: group, roleBinding: {} }), [400, "identity", "role"]);
  assert.deepEqual(await v1.refused(create, { parent: group, roleBinding: { identity: nobody, role: nobody } }), [
    400,
    "identity",
    "role",
  ]);
  assert.deepEqual(await v1.refused(create, { parent: nobody, roleBinding: { identity, role } }), [404]);
  assert.deepEqual(await v1.blamedByGrpc(create, { roleBinding: { identity, role } }), ["parent"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
});

test("who may do what", async () => {
  const id = await platform.bind(group, identity, role);
  const [item = {}] = await v1.items(list, { id });
  await assertRights(v1, {
    list: [list, { id }],
    item,
    writes: [
      [create, { parent: group, roleBinding: { identity, role } }],
      [createBatch, { parent: group, roleBindings: [{ identity, role }] }],
      [update, { id, identity, role }],
      [remove, { id }],
    ],
  });
});
