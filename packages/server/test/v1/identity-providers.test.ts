import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { IdentityProviders } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type V1, v1Of } from "../support/v1/calls.ts";

const { create, delete: remove, list, update } = IdentityProviders.method;

const OIDC = { issuer: "https://login.example.com", clientId: "moorage" };
const WHOLE_OIDC = {
  ...OIDC,
  additionalScopes: ["groups", "offline_access"],
  groupsClaim: "groups",
  correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
  pkceEnabled: true,
};

let platform: Platform;
let v1: V1;
let organization: string;
let viewer: string;
before(async () => {
  platform = await startPlatform();
  ({ organization } = platform);
  v1 = await v1Of(platform);
  viewer = await platform.role("viewer");
});
after(() => platform.close());

const made = (name: string, fields: object = {}) =>
  platform.ok("POST", `/iam/v2/identityProviders/${organization}`, { name, oidc: OIDC, ...fields });
/** The stored secret of the provider, which no answer has. It is sealed anew each time. */
const secretOf = async (uid: unknown): Promise<string> =>
  (
    await platform.reader
      .selectFrom("identity_providers")
      .select("client_secret")
      .where("uid", "=", String(uid))
      .executeTakeFirstOrThrow()
  ).client_secret;

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field; no answer has the secret", async () => {
  for (const [at, send] of [v1.rest, v1.grpc].entries()) {
    const own = { name: `by-one-${at}`, description: "one", defaultRole: viewer };
    const made = await send(create, {
      parentId: organization,
      identityProvider: { ...own, oidc: { ...WHOLE_OIDC, clientSecret: "a secret" } },
    });
    assert.deepEqual(made, { ...own, id: made["id"], oidc: WHOLE_OIDC });
    const { uid, name, description, defaultRole, oidc } = await platform.ok(
      "GET",
      `/iam/v2/identityProviders/${String(made["id"])}`,
    );
    assert.deepEqual({ name, description, defaultRole, oidc }, { ...own, oidc: WHOLE_OIDC });
    assert.deepEqual(await v1.items(list, { id: uid }), [made]);
    assert.notEqual(await secretOf(uid), "");
  }
  const own = { name: "by-two", description: "two", defaultRole: viewer };
  const { uid: id } = await made(own.name, { ...own, oidc: { ...WHOLE_OIDC, clientSecret: "a secret" } });
  assert.deepEqual(await v1.items(list, { id }), [{ id, ...own, oidc: WHOLE_OIDC }]);
});

test("an update replaces the whole, and keeps a secret that it does not name", async () => {
  const oidc = { ...WHOLE_OIDC, clientSecret: "a secret" };
  const { uid: id } = await made("whole", { description: "one", defaultRole: viewer, oidc });
  await platform.transact((tx) =>
    tx.updateTable("identity_providers").set({ shared_callback: 1 }).where("uid", "=", id).execute(),
  );
  const sealed = await secretOf(id);
  assert.deepEqual(await v1.rest(update, { id, name: "whole", oidc: OIDC }), { id, name: "whole", oidc: OIDC });
  const ofV2 = await platform.ok("GET", `/iam/v2/identityProviders/${id}`);
  assert.deepEqual([ofV2.description, ofV2["defaultRole"], ofV2["sharedCallback"]], ["", "", true]);
  assert.deepEqual(ofV2["oidc"], {
    ...OIDC,
    additionalScopes: [],
    groupsClaim: "",
    correlationRule: "CORRELATION_RULE_UNSPECIFIED",
    pkceEnabled: false,
  });
  assert.equal(await secretOf(id), sealed);
  const full = { id, name: "whole-2", description: "two", defaultRole: viewer, oidc: WHOLE_OIDC };
  assert.deepEqual(await v1.grpc(update, { ...full, oidc: { ...WHOLE_OIDC, clientSecret: "another" } }), full);
  assert.notEqual(await secretOf(id), sealed);
  await v1.rest(update, { ...full, oidc: { ...WHOLE_OIDC, clientId: "another client" } });
  assert.equal(await secretOf(id), "");
});

test("a list has what its filters say, and everything without them", async () => {
  const { uid: group } = await platform.group(organization);
  const { uid: one } = await made("filtered");
  const { uid: two } = await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
    name: "filtered",
    oidc: OIDC,
  });
  const ids = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ id }) => id).toSorted();
  const all = await ids({});
  for (const id of [one, two]) assert.ok(all.includes(id));
  assert.deepEqual(await ids({ id: one }), [one]);
  assert.deepEqual(await ids({ id: `${group}/0000000000000000` }), []);
  assert.deepEqual(await ids({ name: "filtered" }), [one, two].toSorted());
  assert.deepEqual(await ids({ name: "filtered", uidp: { childrenOf: group } }), [two]);
  assert.deepEqual(await ids({ uidp: { descendantsOf: group } }), [two]);
  assert.deepEqual(await ids({ uidp: { ids: [one, two] } }), [one, two].toSorted());
  assert.deepEqual(await ids({ id: one, uidp: { ids: [two] } }), []);
});

test("a provider is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: id } = await made("gone");
    assert.deepEqual(await send(remove, { id }), {});
    assert.deepEqual(await v1.items(list, { id }), []);
    assert.deepEqual(await v1.refused(remove, { id }), [404]);
    assert.deepEqual(await v1.refused(update, { id, name: "gone", oidc: OIDC }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const { uid: id } = await made("errors");
  assert.deepEqual(await v1.refused(create, { parentId: organization, identityProvider: { name: "No!", oidc: {} } }), [
    400,
    "name",
    "oidc.issuer",
    "oidc.clientId",
  ]);
  assert.deepEqual(await v1.refused(update, { id, name: "errors" }), [400, "oidc"]);
  const nothing = `${organization}/0000000000000000`;
  assert.deepEqual(await v1.refused(update, { id, name: "errors", oidc: OIDC, defaultRole: nothing }), [
    400,
    "defaultRole",
  ]);
  assert.deepEqual(await v1.blamedByGrpc(create, { identityProvider: { name: "nowhere", oidc: OIDC } }), ["parentId"]);
  assert.deepEqual(await v1.blamedByGrpc(remove, {}), ["id"]);
});

test("who may do what", async () => {
  const { uid: id } = await made("rights");
  await assertRights(v1, {
    list: [list, { id }],
    item: { id, name: "rights", oidc: OIDC },
    writes: [
      [create, { parentId: organization, identityProvider: { name: "more", oidc: OIDC } }],
      [update, { id, name: "rights", oidc: OIDC }],
      [remove, { id }],
    ],
  });
});
