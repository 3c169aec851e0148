import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Terms } from "@moorage/api/v1/iam";
import { type Platform, startPlatform } from "../support/platform.ts";
import { type V1, v1Of } from "../support/v1/calls.ts";

const { acceptTerms, listAccepted } = Terms.method;

const document = (id: string, required: unknown): object => ({
  id,
  label: `The ${id}`,
  url: `https://moorage.example.com/${id}`,
  required,
});

let platform: Platform;
let v1: V1;
let organization: string;
before(async () => {
  platform = await startPlatform({}, [document("privacy", false), document("rules", ["UpdateGroup"])]);
  ({ organization } = platform);
  v1 = await v1Of(platform);
});
after(() => platform.close());

test("v2 has what v1 accepted, and v1 what v2 accepted, in every field", async () => {
  for (const send of [v1.rest, v1.grpc]) {
    const { uid: group } = await platform.group(organization);
    assert.deepEqual(await send(acceptTerms, { group, documentIds: ["privacy"] }), { group, documentIds: ["privacy"] });
    const { termsAcceptances } = await platform.ok("GET", `/iam/v2/terms/${group}`);
    const [{ createTime } = { createTime: "" }] = termsAcceptances as { createTime: string }[];
    assert.deepEqual(termsAcceptances, [{ docId: "privacy", acceptedBy: platform.owner, orgUid: group, createTime }]);
    const [item] = await v1.items(listAccepted, { group });
    assert.deepEqual(
      { ...item, acceptedAt: Date.parse(String(item?.["acceptedAt"])) },
      { docId: "privacy", acceptedBy: platform.owner, acceptedAt: Date.parse(createTime) },
    );
  }
  const { uid: group } = await platform.group(organization);
  const { uid: below } = await platform.group(group);
  await platform.ok("POST", `/iam/v2/terms/${group}`, { documentIds: ["rules"] });
  for (const place of [group, below])
    assert.deepEqual(
      (await v1.items(listAccepted, { group: place })).map(({ docId }) => docId),
      ["rules"],
    );
  assert.deepEqual(await v1.read(listAccepted, { group: organization }), {});
  assert.deepEqual(await v1.refused(listAccepted, { group: `${organization}/0000000000000000` }), [404]);
});

test("a document blocks the methods of v1 that are made of those that it blocks", async () => {
  const { uid } = await platform.group(organization, { name: "blocked" });
  const body = { name: "blocked", description: "changed" };
  const put = async () => platform.call("PUT", `/iam/v1/groups/${uid}`, { token: await platform.token(), body });
  const refused = await put();
  assert.equal(refused.status, 400);
  assert.equal(refused.body.code, 9);
  await v1.rest(acceptTerms, { group: uid, documentIds: ["rules"] });
  assert.equal((await put()).status, 200);
});

test("errors have v1's names of fields", async () => {
  assert.deepEqual(await v1.refused(acceptTerms, { group: organization }), [400, "documentIds"]);
  assert.deepEqual(await v1.refused(acceptTerms, { group: organization, documentIds: ["privacy", "none"] }), [
    400,
    "documentIds[1]",
  ]);
  assert.deepEqual(await v1.blamedByGrpc(acceptTerms, { documentIds: ["privacy"] }), ["group"]);
  assert.deepEqual(await v1.blamedByGrpc(listAccepted, {}), ["group"]);
});

test("who may do what", async () => {
  const { uid: group } = await platform.group(organization);
  await v1.rest(acceptTerms, { group, documentIds: ["privacy"] });
  const request = { group, documentIds: ["privacy"] };
  assert.deepEqual(await v1.refused(acceptTerms, request, "none"), [401]);
  assert.deepEqual(await v1.refused(acceptTerms, request, "stranger"), [404]);
  assert.deepEqual(await v1.refused(acceptTerms, request, "viewer"), [403]);
  assert.deepEqual(await v1.refused(listAccepted, { group }, "none"), [401]);
  assert.deepEqual(await v1.refused(listAccepted, { group }, "stranger"), [404]);
  for (const who of ["viewer", "owner"] as const)
    assert.deepEqual(
      (await v1.items(listAccepted, { group }, who)).map(({ docId }) => docId),
      ["privacy"],
    );
});
