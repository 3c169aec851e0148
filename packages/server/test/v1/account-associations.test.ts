import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { GroupAccountAssociations } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { assertRights, type Item, type V1, v1Of } from "../support/v1/calls.ts";

const { check, create, delete: remove, list, update } = GroupAccountAssociations.method;

const CLIENT = "11111111-2222-3333-4444-555555555555";
const ACCOUNTS = {
  name: "cloud",
  description: "ours",
  amazon: { account: "123456789012" },
  google: { projectId: "acme-build-7", projectNumber: "998877665544" },
  azure: { tenantId: "8f0f1c2e-7a51-4d1c-9d57-0f6a5f1f0a11", clientIds: { scanner: CLIENT } },
  github: {
    appInstallations: {
      "1234": {
        installations: [
          { installationId: "9007199254740993", name: "acme" },
          { installationId: "2", name: "other" },
        ],
      },
    },
  },
};

let platform: Platform;
let v1: V1;
let organization: string;
let answer = { status: 200, body: "" };
// Stands in for the token endpoints of the providers.
const provider = createServer((req, res) => {
  req.resume().on("end", () => res.writeHead(answer.status).end(answer.body));
});
before(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_AWS_STS_URL: url,
    MOORAGE_GOOGLE_STS_URL: url,
    MOORAGE_AZURE_LOGIN_URL: url,
  });
  ({ organization } = platform);
  v1 = await v1Of(platform);
});
after(async () => {
  await platform.close();
  provider.closeAllConnections();
  provider.close();
});

const newGroup = async (parent = organization): Promise<string> => (await platform.group(parent)).uid;
const associate = (group: string, fields: object) =>
  platform.ok("POST", `/iam/v2/accountAssociations/${group}`, fields);
const withServices = async (): Promise<Item> => ({
  ...ACCOUNTS,
  services: { serviceBindings: { scanner: await platform.identity(organization) } },
});
/** Of the association of v2, what v1 has as well. */
async function ofV2(group: string): Promise<Item> {
  const { uid, createTime, updateTime, ...rest } = await platform.ok("GET", `/iam/v2/accountAssociations/${group}`);
  assert.ok(createTime && updateTime);
  return { group: uid, ...rest };
}

test("v2 has what v1 wrote, and v1 what v2 wrote, in every field", async () => {
  const whole = await withServices();
  for (const send of [v1.rest, v1.grpc]) {
    const group = await newGroup();
    assert.deepEqual(await send(create, { group, ...whole }), { group, ...whole });
    assert.deepEqual(await ofV2(group), { group, ...whole });
    assert.deepEqual(await v1.items(list, { group }), [{ group, ...whole }]);
  }
  const group = await newGroup();
  await associate(group, whole);
  assert.deepEqual(await v1.items(list, { group }), [{ group, ...whole }]);
});

test("an update replaces the whole", async () => {
  const whole = await withServices();
  const group = await newGroup();
  await associate(group, whole);
  const left = { group, name: "less", amazon: { account: "210987654321" } };
  assert.deepEqual(await v1.rest(update, left), left);
  assert.deepEqual(await ofV2(group), { ...left, description: "" });
  assert.deepEqual(await v1.grpc(update, { group, ...whole }), { group, ...whole });
  assert.deepEqual(await ofV2(group), { group, ...whole });
  assert.deepEqual(await v1.rest(update, { group }), { group });
  assert.deepEqual(await ofV2(group), { group, name: "", description: "" });
});

test("a list has what its filters say, and everything without them", async () => {
  const above = await newGroup();
  const below = await newGroup(above);
  await associate(above, { name: "above" });
  await associate(below, { name: "below" });
  const groups = async (request: JsonObject): Promise<unknown[]> =>
    (await v1.items(list, request)).map(({ group }) => group).toSorted();
  const all = await groups({});
  for (const group of [above, below]) assert.ok(all.includes(group));
  assert.deepEqual(await groups({ group: above }), [above]);
  assert.deepEqual(await groups({ group: await newGroup() }), []);
  assert.deepEqual(await groups({ name: "below" }), [below]);
  assert.deepEqual(await groups({ name: "below", group: above }), []);
});

test("an account is checked, with v1's names of providers and states", async () => {
  const group = await newGroup();
  const { google, amazon } = ACCOUNTS;
  await associate(group, { google, amazon });
  answer = { status: 200, body: JSON.stringify({ access_token: "given", token_type: "Bearer", expires_in: 3600 }) };
  const ready = await v1.read(check, { group, accountType: "GOOGLE" });
  assert.deepEqual(ready, { ready: "Ready", message: "the provider lets this installation in" });
  answer = { status: 400, body: JSON.stringify({ error: "invalid_grant", error_description: "no such pool" }) };
  const { message, ...notReady } = await v1.read(check, { group, accountType: "GOOGLE" });
  assert.ok(String(message).includes("no such pool"));
  assert.equal(notReady["ready"], "NotReady");
  assert.notEqual(notReady["reason"] ?? "", "");
  for (const accountType of ["AMAZON", "AZURE"])
    assert.equal((await v1.read(check, { group, accountType }))["ready"], "NotReady");
  assert.deepEqual(await v1.refused(check, { group }), [400, "accountType"]);
  assert.deepEqual(await v1.refused(check, { group: await newGroup(), accountType: "GOOGLE" }), [404]);
});

test("an association is deleted, and then there is none to update or delete", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const group = await newGroup();
    await associate(group, { name: "gone" });
    assert.deepEqual(await send(remove, { group }), {});
    assert.deepEqual(await v1.items(list, { group }), []);
    assert.deepEqual(await v1.refused(remove, { group }), [404]);
    assert.deepEqual(await v1.refused(update, { group, name: "gone" }), [404]);
  }
});

test("errors have v1's names of fields", async () => {
  const group = await newGroup();
  assert.deepEqual(await v1.refused(create, { group, amazon: { account: "1" }, azure: {}, google: {} }), [
    400,
    "amazon.account",
    "azure.tenantId",
    "google.projectId",
  ]);
  const github = { appInstallations: { "5": { installations: [{ installationId: "0" }] } } };
  assert.deepEqual(await v1.refused(create, { group, github }), [
    400,
    "github.appInstallations.5.installations[0].installationId",
  ]);
  assert.deepEqual(await v1.blamedByGrpc(create, { name: "nowhere" }), ["group"]);
  for (const method of [update, remove, check]) assert.deepEqual(await v1.blamedByGrpc(method, {}), ["group"]);
  await associate(group, { name: "one" });
  assert.deepEqual(await v1.refused(create, { group, name: "two" }), [409]);
});

test("who may do what", async () => {
  const group = await newGroup();
  await associate(group, { name: "rights" });
  await assertRights(v1, {
    list: [list, { group }],
    item: { group, name: "rights" },
    writes: [
      [create, { group: await newGroup(), name: "more" }],
      [update, { group, name: "rights" }],
      [remove, { group }],
    ],
  });
  assert.deepEqual(await v1.refused(check, { group, accountType: "AMAZON" }, "none"), [401]);
  assert.deepEqual(await v1.refused(check, { group, accountType: "AMAZON" }, "stranger"), [404]);
  assert.equal((await v1.read(check, { group, accountType: "AMAZON" }, "viewer"))["ready"], "NotReady");
});
